/** @file The metrics of a run as a CSV table, with one row for each step and one column for each metric. */
import { csv } from '../base/csv.ts';
import type { StepMetrics } from '../records/run.ts';

export function metricsCsv(metrics: readonly StepMetrics[]): string {
  const names = [...new Set(metrics.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'step');
  return csv(
    ['step', ...names],
    metrics.map((row) => [row.step, ...names.map((name) => row[name])]),
  );
}
