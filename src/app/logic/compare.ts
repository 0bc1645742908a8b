/** @file What a comparison's address names, what runs differ in, and their metrics on common axes. */
import type { RunRow } from '../../storage/database.ts';
import type { GrpoConfig } from '../../training/types.ts';
import type { ChartSpec } from './charts.ts';
import { number, percent, seconds, tickSeconds } from './format.ts';
import { heldOutName, MetricSeries } from './series.ts';

/** More curves than colours would be no comparison. */
export const MOST_RUNS = 6;

export interface RolloutAddress {
  run: string;
  id: string;
}

/** `of` of a comparison of rollouts: `run/rollout,run/rollout`, each name escaped as in a path. */
export const pairText = (pair: readonly RolloutAddress[]) => pair.map(({ run, id }) => `${encodeURIComponent(run)}/${encodeURIComponent(id)}`).join(',');

/** @returns null where `of` does not name two rollouts */
export function readPair(of: string): [RolloutAddress, RolloutAddress] | null {
  const sides = of.split(',').map((side) => side.split('/'));
  if (sides.length !== 2 || sides.some((side) => side.length !== 2 || side.includes(''))) return null;
  try {
    return sides.map(([run, id]) => ({ run: decodeURIComponent(run!), id: decodeURIComponent(id!) })) as [RolloutAddress, RolloutAddress];
  } catch {
    return null; // a lone % in an address typed by hand
  }
}

/** Ids separated by commas, each once. */
export const readIds = (of: string) => [...new Set(of.split(',').filter(Boolean))];

export interface Difference {
  name: string;
  /** One a run, in the order of the runs. */
  values: string[];
}

/** Model, preset, customer and settings that are not the same in all runs. */
export function differences(rows: readonly Pick<RunRow, 'request' | 'config'>[]): Difference[] {
  const names = [...new Set(rows.flatMap(({ config }) => Object.keys(config)))] as (keyof GrpoConfig)[];
  const all: Difference[] = [
    { name: 'model', values: rows.map(({ request }) => request.model) },
    { name: 'preset', values: rows.map(({ request }) => request.preset) },
    { name: 'customer', values: rows.map(({ request: { user } }) => (user.mode === 'scripted' ? 'scripted' : `${user.model} at ${user.baseUrl}`)) },
    ...names.map((name) => ({ name, values: rows.map(({ config }) => String(config[name] ?? 'not set')) })),
  ];
  return all.filter(({ values }) => values.some((value) => value !== values[0]));
}

const named = (name: string) => () => name;
const heldOut = ({ names }: MetricSeries) => heldOutName(names) ?? 'val-core';

interface Compared extends Pick<ChartSpec, 'id' | 'title' | 'help' | 'max' | 'format' | 'tick'> {
  metric: (series: MetricSeries) => string;
  sparse?: boolean;
}

const COMPARED: Compared[] = [
  { id: 'reward', title: 'Reward', help: 'Share of the step’s rollouts that solved their task.', max: 1, format: percent, metric: named('critic/score/mean') },
  { id: 'held-out', title: 'Held-out reward', help: 'The same on customers never trained on.', max: 1, format: percent, metric: heldOut, sparse: true },
  { id: 'mixed', title: 'Mixed groups', help: 'Groups that carry a gradient: some tries succeeded, some failed.', max: 1, format: percent, metric: named('trajectories/valid_query_ratio') },
  { id: 'kl', title: 'KL to the reference', help: 'Distance from where each run started, in nats a token.', format: number, metric: named('actor/kl_loss') },
  { id: 'entropy', title: 'Entropy', help: 'How undecided the policy model is, in nats.', format: number, metric: named('actor/entropy') },
  { id: 'turns', title: 'Turns', help: 'Tool calls and user replies of a rollout.', format: number, metric: named('rollout/turns/mean') },
  { id: 'length', title: 'Response length', help: 'Tokens the policy model sampled in a rollout.', format: number, metric: named('response_length_only_model/mean') },
  { id: 'time', title: 'Time of a step', help: 'From the first conversation to the updated weights.', format: seconds, tick: tickSeconds, metric: named('perf/time_per_step') },
];

export interface NamedSeries {
  name: string;
  series: MetricSeries;
}

/** All runs in one set of columns, so that one chart draws them by step; a run's columns begin with its place. */
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

/** One chart a metric, one line a run. */
export function overlayCharts(runs: readonly NamedSeries[]): ChartSpec[] {
  return COMPARED.map(({ metric, sparse, ...spec }) => ({
    ...spec,
    kind: 'lines',
    lines: () => runs.map(({ name, series }, i) => ({ key: `${i} ${metric(series)}`, label: name, color: `--series-${i + 1}`, sparse })),
  }));
}

/** A mean over this many steps is less noisy than the last one. */
export const LAST_STEPS = 10;

export const FIGURES: { label: string; format: (value: number) => string; of: (series: MetricSeries) => number | null }[] = [
  { label: 'steps', format: number, of: (series) => series.latest('critic/score/mean')?.step ?? null },
  { label: `reward, mean of the last ${LAST_STEPS} steps`, format: percent, of: (series) => lastMean(series, 'critic/score/mean') },
  { label: 'held-out reward before', format: percent, of: (series) => series.values(heldOut(series)).find((value) => value !== null) ?? null },
  { label: 'held-out reward, newest', format: percent, of: (series) => series.latest(heldOut(series))?.value ?? null },
  { label: 'held-out reward, best', format: percent, of: (series) => series.values(heldOut(series)).reduce((best, value) => (value !== null && (best === null || value > best) ? value : best), null) },
  { label: `mixed groups, mean of the last ${LAST_STEPS} steps`, format: percent, of: (series) => lastMean(series, 'trajectories/valid_query_ratio') },
  { label: 'KL to the reference, newest', format: number, of: (series) => series.latest('actor/kl_loss')?.value ?? null },
  { label: 'entropy, newest', format: number, of: (series) => series.latest('actor/entropy')?.value ?? null },
  { label: `turns, mean of the last ${LAST_STEPS} steps`, format: number, of: (series) => lastMean(series, 'rollout/turns/mean') },
  { label: `a step takes, mean of the last ${LAST_STEPS} steps`, format: seconds, of: (series) => lastMean(series, 'perf/time_per_step') },
];

function lastMean(series: MetricSeries, name: string): number | null {
  const values = series.values(name).filter((value) => value !== null).slice(-LAST_STEPS);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
