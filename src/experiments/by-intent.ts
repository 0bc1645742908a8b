/** @file The results of an experiment by intent: whether what was learned on some intents holds for others. */
import { intentGroup, SEVERAL } from '../evaluation/by-intent.ts';
import type { Experiment, ExperimentRun } from '../records/experiment.ts';
import { type Estimate, overSeeds, sharesOverSeeds } from './estimate.ts';

export interface IntentResult {
  /** The held-out success in tasks with this intent, at the last evaluation. */
  success: Estimate | null;
  /** The share of the writes in these tasks to which the customer had said yes. Null if nothing was written, or without an audit. */
  asked: Estimate | null;
}

export interface ByIntent {
  /** In alphabetical order; tasks with wishes of several intents are last. */
  intents: string[];
  /** For each variant: a result for each of `intents`. */
  variants: { name: string; results: IntentResult[] }[];
}

/** Null if no run knows the intents of its tasks, or if all tasks have the same one. Files of earlier versions have no intents. */
export function byIntent({ variants, seeds }: Experiment, runs: readonly ExperimentRun[]): ByIntent | null {
  const rank = (intent: string) => (intent === SEVERAL ? 1 : 0);
  const intents = [...new Set(runs.flatMap((run) => (run.intents ?? []).map(intentGroup)))].sort(
    (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1),
  );
  if (intents.length < 2) return null;
  return {
    intents,
    variants: variants.map(({ name }) => {
      const own = seeds.flatMap((seed) => runs.find((run) => run.variant === name && run.seed === seed) ?? []);
      return { name, results: intents.map((intent) => resultOf(own, intent)) };
    }),
  };
}

function resultOf(runs: readonly ExperimentRun[], intent: string): IntentResult {
  const parts = runs.map((run) => {
    const { success = [], writes = [] } = run.evaluations.at(-1) ?? {};
    const places = (run.intents ?? []).flatMap((name, i) => (intentGroup(name) === intent ? [i] : []));
    const [asked, of] = places.reduce(([a, b], i) => [a + (writes[i]?.[0] ?? 0), b + (writes[i]?.[1] ?? 0)], [0, 0]);
    return { success: places.flatMap((i) => success[i] ?? []), asked: of > 0 ? [asked / of] : [] };
  });
  return {
    success: sharesOverSeeds(parts.map(({ success }) => success)),
    asked: overSeeds(
      parts.flatMap(({ asked }) => asked),
      [0, 1],
    ),
  };
}
