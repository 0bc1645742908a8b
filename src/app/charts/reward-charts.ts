/** @file Charts that show whether the agent earns its reward by the rules: writes with a yes, and the reward by part. */
import { REWARD_LABELS } from '../data/labels.ts';
import { number, percent } from '../kit/format.ts';
import { wilson } from '../kit/wilson.ts';
import type { MetricSeries } from '../data/run/series.ts';
import type { Band, ChartSpec } from './charts.ts';

function bandOf(series: MetricSeries, count: string, of: string): Band {
  const counts = series.values(count);
  const ends = series.values(of).map((total, row) => (total === null || counts[row] == null ? null : wilson(counts[row], total)));
  return { low: ends.map((end) => end?.low ?? null), high: ends.map((end) => end?.high ?? null) };
}

const HELD_OUT_WRITES = /^val-aux\/.*\/writes\/confirmed_ratio$/;

export const WRITES_CHART: ChartSpec = {
  id: 'confirmed-writes',
  title: 'Writes with a yes',
  help: 'Share of a step’s writes that the customer said yes to. If it falls while the reward rises, the agent earns reward by breaking rules. Band: 95 % interval, as if writes were independent.',
  kind: 'lines',
  max: 1,
  format: percent,
  lines: ({ names }) => [
    {
      key: 'writes/confirmed_ratio',
      label: 'training',
      color: '--accent',
      sparse: true,
      band: (series) => bandOf(series, 'writes/confirmed', 'writes/audited'),
    },
    ...names.filter((name) => HELD_OUT_WRITES.test(name)).map((key) => ({ key, label: 'held-out', color: '--series-2', sparse: true })),
  ],
};

const partLabel = (part: string) => (Object.hasOwn(REWARD_LABELS, part) ? REWARD_LABELS[part as keyof typeof REWARD_LABELS] : part);
const PART = /^reward\/(.+)\/mean$/;

export const PARTS_CHART: ChartSpec = {
  id: 'reward-parts',
  title: 'Reward by part',
  help: 'What each part adds to the reward of training, on average. Prices are negative. Success is only the outcome.',
  kind: 'lines',
  format: number,
  legendLines: 2,
  lines: ({ names }) => [
    { key: 'critic/rewards/mean', label: 'total', color: '--text' },
    ...names
      .filter((name) => PART.test(name))
      .map((key, i) => ({ key, label: partLabel(PART.exec(key)![1]!), color: `--series-${(i % 6) + 1}` })),
  ],
};
