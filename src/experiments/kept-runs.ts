/** @file Decides which finished runs are kept when the definition of an experiment changes. */
import type { Experiment, ExperimentRun } from '../records/experiment.ts';
import { configOf, type Pair, requestOf, samePair } from './plan.ts';

/** Those kept runs that belong to `experiment`. @throws Error if a run was trained with other settings */
export function keptRuns(experiment: Experiment, earlier: Experiment, runs: readonly ExperimentRun[]): ExperimentRun[] {
  return runs.filter((run) => {
    const asked = experiment.seeds.includes(run.seed) && experiment.variants.some(({ name }) => name === run.variant);
    if (!asked) return false;
    const [now, then] = [experiment, earlier].map((one) => JSON.stringify(settingsOf(one, run)));
    if (now !== then)
      throw new Error(
        `variant "${run.variant}" with seed ${run.seed} was trained with other settings: expected a new folder, or the same settings`,
      );
    return !runs.slice(0, runs.indexOf(run)).some((other) => samePair(other, run));
  });
}

function settingsOf(experiment: Experiment, pair: Pair): unknown {
  const { model, lora, user } = requestOf(experiment, pair);
  return [model, lora, user, configOf(experiment, pair)];
}
