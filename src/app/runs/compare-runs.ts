/** @file Puts the metrics of several runs into common charts. */
import type { ChartSpec } from '../charts/charts.ts';
import { LAST_STEPS } from '../library/run-summary.ts';
import { heldOutName } from '../../records/run.ts';
import { MetricSeries } from '../run-data/series.ts';
import { number, percent, seconds, tickSeconds } from '../kit/format.ts';

const named = (name: string) => () => name;
const heldOut = ({ names }: MetricSeries) => heldOutName(names) ?? 'val-core';

interface Compared extends Pick<ChartSpec, 'id' | 'title' | 'help' | 'max' | 'format' | 'tick'> {
  metric: (series: MetricSeries) => string;
  sparse?: boolean;
}

const COMPARED: Compared[] = [
  {
    id: 'reward',
    title: 'Reward',
    help: 'Share of the step’s rollouts that solved their task.',
    max: 1,
    format: percent,
    metric: named('critic/score/mean'),
  },
  {
    id: 'held-out',
    title: 'Held-out reward',
    help: 'Share of the held-out tasks that were solved. Held-out tasks are never trained on.',
    max: 1,
    format: percent,
    metric: heldOut,
    sparse: true,
  },
  {
    id: 'mixed',
    title: 'Mixed groups',
    help: 'Share of groups in which some rollouts succeeded and some failed. Only these groups have a gradient.',
    max: 1,
    format: percent,
    metric: named('trajectories/valid_query_ratio'),
  },
  {
    id: 'kl',
    title: 'KL to the reference, trained tokens',
    help: 'How far each run has moved from its reference model, in nats per trained token.',
    format: number,
    metric: named('actor/kl_loss'),
  },
  {
    id: 'entropy',
    title: 'Entropy, trained tokens',
    help: 'How undecided the agent is, in nats per trained token.',
    format: number,
    metric: named('actor/entropy'),
  },
  {
    id: 'turns',
    title: 'Turns',
    help: 'Tool results and customer replies per rollout, on average.',
    format: number,
    metric: named('rollout/turns/mean'),
  },
  {
    id: 'length',
    title: 'Response length',
    help: 'Tokens that the agent sampled in a rollout.',
    format: number,
    metric: named('response_length_only_model/mean'),
  },
  {
    id: 'time',
    title: 'Time of a step',
    help: 'Time from the first conversation of a step to the updated weights.',
    format: seconds,
    tick: tickSeconds,
    metric: named('perf/time_per_step'),
  },
];

export interface NamedSeries {
  name: string;
  series: MetricSeries;
}

/** Puts all runs into one set of columns, so that one chart can draw them by step. A run's column names begin with its index. */
export function overlay(runs: readonly NamedSeries[]): MetricSeries {
  const merged = new MetricSeries();
  runs.forEach(({ series }, i) => {
    const steps = series.steps();
    for (const { metric } of COMPARED) {
      const name = metric(series);
      series.values(name).forEach((value, row) => value !== null && merged.put({ step: steps[row]!, [`${i} ${name}`]: value }));
    }
  });
  return merged;
}

/**
 * The charts of several runs: one chart per metric, with one line per run. `unmeasured` has the titles of the metrics that fewer
 * than two of the runs have measured: these are not compared.
 */
export function overlayCharts(runs: readonly NamedSeries[]): { charts: ChartSpec[]; unmeasured: string[] } {
  const all = COMPARED.map(({ metric, sparse, ...spec }): ChartSpec & { measured: boolean } => ({
    ...spec,
    kind: 'lines',
    lines: () => runs.map(({ name, series }, i) => ({ key: `${i} ${metric(series)}`, label: name, color: `--series-${i + 1}`, sparse })),
    measured: runs.filter(({ series }) => series.latest(metric(series)) !== null).length >= Math.min(2, runs.length),
  }));
  return {
    charts: all.filter(({ measured }) => measured),
    unmeasured: all.filter(({ measured }) => !measured).map(({ title }) => title),
  };
}

export const FIGURES: { label: string; format: (value: number) => string; of: (series: MetricSeries) => number | null }[] = [
  { label: 'steps', format: number, of: (series) => series.latest('critic/score/mean')?.step ?? null },
  { label: `reward, mean of the last ${LAST_STEPS} steps`, format: percent, of: (series) => lastMean(series, 'critic/score/mean') },
  {
    label: 'held-out reward before',
    format: percent,
    of: (series) => series.values(heldOut(series)).find((value) => value !== null) ?? null,
  },
  { label: 'held-out reward, newest', format: percent, of: (series) => series.latest(heldOut(series))?.value ?? null },
  {
    label: 'held-out reward, best',
    format: percent,
    of: (series) =>
      series.values(heldOut(series)).reduce((best, value) => (value !== null && (best === null || value > best) ? value : best), null),
  },
  {
    label: `mixed groups, mean of the last ${LAST_STEPS} steps`,
    format: percent,
    of: (series) => lastMean(series, 'trajectories/valid_query_ratio'),
  },
  { label: 'KL to the reference (trained tokens), newest', format: number, of: (series) => series.latest('actor/kl_loss')?.value ?? null },
  { label: 'entropy (trained tokens), newest', format: number, of: (series) => series.latest('actor/entropy')?.value ?? null },
  { label: `turns, mean of the last ${LAST_STEPS} steps`, format: number, of: (series) => lastMean(series, 'rollout/turns/mean') },
  { label: `time per step, mean of the last ${LAST_STEPS} steps`, format: seconds, of: (series) => lastMean(series, 'perf/time_per_step') },
];

function lastMean(series: MetricSeries, name: string): number | null {
  const values = series
    .values(name)
    .filter((value) => value !== null)
    .slice(-LAST_STEPS);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
