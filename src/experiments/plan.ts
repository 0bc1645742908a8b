/** @file The runs of an experiment: the request for each run, which runs remain, and how long they will take. */
import { unknownName } from '../base/did-you-mean.ts';
import type { Experiment, ExperimentRow, ExperimentRun, ExperimentVariant, Overrides } from '../records/experiment.ts';
import type { GrpoConfig, RunRequest, RunRow } from '../records/run.ts';
import { withAlgorithm } from '../training/algorithms/index.ts';
import { grpoConfig } from '../training/config.ts';
import { ownName } from '../training/settings/index.ts';
import { PRESETS } from '../training/presets.ts';

/** One run of the queue: a variant with a seed. */
export interface Pair {
  variant: string;
  seed: number;
}

/** All pairs. They are sorted by seed first, so that all variants finish their first seed early. */
export function allPairs({ variants, seeds }: Pick<Experiment, 'variants' | 'seeds'>): Pair[] {
  return seeds.flatMap((seed) => variants.map(({ name }) => ({ variant: name, seed })));
}

export const samePair = (a: Pair, b: Pair) => a.variant === b.variant && a.seed === b.seed;

/** The pairs without a finished run, in order. They are the queue, which depends only on what is stored. */
export function pendingPairs(experiment: Pick<Experiment, 'variants' | 'seeds'>, results: readonly Pair[]): Pair[] {
  return allPairs(experiment).filter((pair) => !results.some((result) => samePair(pair, result)));
}

/**
 * The stored run of a pair that was begun here but not finished. It can continue from its checkpoint. If there are several,
 * the newest is returned.
 */
export function begunRun(runs: readonly RunRow[], experiment: string, pair: Pair): RunRow | undefined {
  return runs
    .filter((row) => row.experiment === experiment && row.variant === pair.variant && row.config.seed === pair.seed && !row.imported)
    .toSorted((a, b) => b.createdAt - a.createdAt)[0];
}

/** Merges several objects of settings. Later objects override earlier ones. The names may be verl's or TRL's. */
function mergeOverrides(...layers: readonly Overrides[]): Overrides {
  const byName = new Map<string, [string, Overrides[string]]>();
  for (const layer of layers) for (const [given, value] of Object.entries(layer)) byName.set(ownName(given), [given, value]);
  return Object.fromEntries(byName.values());
}

function variantOf({ variants }: Pick<Experiment, 'variants'>, name: string): ExperimentVariant {
  const variant = variants.find((other) => other.name === name);
  if (!variant) throw new Error(`variant "${name}" is unknown; known: ${variants.map((other) => other.name).join(', ')}`);
  return variant;
}

/** What a run of an experiment is started with. */
export interface ExperimentRequest extends RunRequest {
  /** Folder of a LoRA adapter. Only the command line reads it: in the browser, a stored model holds its adapter. */
  lora?: string;
}

/** The request for one run. @throws Error if the variant, its preset or its algorithm is unknown */
export function requestOf({ base, evaluation, ...experiment }: Experiment, { variant: name, seed }: Pair): ExperimentRequest {
  const variant = variantOf(experiment, name);
  const preset = variant.preset ?? base.preset;
  if (!Object.hasOwn(PRESETS, preset)) throw new Error(unknownName('preset', preset, Object.keys(PRESETS)));
  // An experiment compares each run with its start.
  const start: Overrides = PRESETS[preset]!.config.val_before_train ? {} : { val_before_train: true };
  const merged = mergeOverrides(start, base.overrides, evaluation, variant.overrides);
  const overrides = variant.algorithm === undefined ? merged : withAlgorithm(variant.algorithm, preset, merged);
  const lora = variant.lora ?? base.lora;
  return {
    model: variant.model ?? base.model ?? PRESETS[preset]!.model,
    ...(lora !== undefined && { lora }),
    preset,
    overrides: { ...overrides, seed } as Partial<GrpoConfig>,
    user: variant.user ?? base.user,
    ...(base.val_user && { val_user: base.val_user }),
  };
}

/** The complete configuration of one run. @throws Error that names the setting, its value and what was expected */
export function configOf(experiment: Experiment, pair: Pair): GrpoConfig {
  const { preset, overrides } = requestOf(experiment, pair);
  return grpoConfig(preset, overrides);
}

/** What is known about the run that is being trained. */
export interface RunUnderWay extends Pair {
  /** `step` of the `steps` steps are finished. */
  step: number;
  steps: number;
  /** The seconds of its finished steps and evaluations. */
  seconds: number;
}

/**
 * The seconds that the queue still needs. A pending run is expected to take as long as the mean of the finished runs of its
 * variant. If its variant has no finished run, the first of these estimates that exists is used: the current run at its speed so
 * far, if it is of the same variant; the mean of all finished runs; the current run at its speed so far. Null if none exists.
 */
export function secondsLeft(experiment: ExperimentRow, current: RunUnderWay | null): number | null {
  const mean = (runs: readonly ExperimentRun[]) =>
    runs.length === 0 ? null : runs.reduce((sum, { seconds }) => sum + seconds, 0) / runs.length;
  const overall = mean(experiment.results);
  const paced = current && current.step > 0 ? (current.seconds * current.steps) / current.step : null;
  const lengthOf = (pair: Pair) =>
    mean(experiment.results.filter(({ variant }) => variant === pair.variant)) ??
    (current?.variant === pair.variant ? paced : null) ??
    overall ??
    paced;
  let left = 0;
  for (const pair of pendingPairs(experiment, experiment.results)) {
    const length = lengthOf(pair);
    if (length === null) return null;
    left += current && samePair(pair, current) ? length * (1 - current.step / Math.max(1, current.steps)) : length;
  }
  return left;
}
