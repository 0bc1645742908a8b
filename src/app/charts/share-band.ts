/** @file The confidence interval of a share, for each step of a run. */
import { wilson } from '../../base/wilson.ts';
import type { MetricSeries } from '../run-data/series.ts';
import type { Band } from './charts.ts';

/** Wilson's 95 % interval of the metric `share`. Its sample size is the metric `of`. null if a step lacks one of them, or if `of` is 0. */
export function shareBand(series: MetricSeries, share: string, of: string): Band {
  const totals = series.values(of);
  const ends = series.values(share).map((value, row) => {
    const total = totals[row];
    return value === null || total == null ? null : wilson(Math.round(value * total), total);
  });
  return { low: ends.map((end) => end?.low ?? null), high: ends.map((end) => end?.high ?? null) };
}
