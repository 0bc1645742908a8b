/** @file Finds the alarms of a run in the metrics that its charts show. */
import type { MetricSeries } from '../run-data/series.ts';
import { type Alarm, ALARM_METRICS, alarmsOf } from '../../training/alarms.ts';
import type { StepMetrics } from '../../records/run.ts';

export function alarmsIn(series: MetricSeries): Alarm[] {
  const columns = ALARM_METRICS.map((name) => [name, series.values(name)] as const);
  return alarmsOf(
    series.steps().map((step, row): StepMetrics => {
      const metrics: StepMetrics = { step };
      for (const [name, values] of columns) if (values[row] !== null) metrics[name] = values[row]!;
      return metrics;
    }),
  );
}
