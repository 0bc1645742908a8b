/** @file The figures of a run that the list of runs shows. */
import type { StepMetrics } from '../../../records/run.ts';
import { LAST_STEPS } from '../run/compare.ts';
import { heldOutName } from '../run/series.ts';

export interface RunSummary {
  /** Mean reward of the last steps; null if no step has a reward. */
  reward: number | null;
  /** Held-out reward, first and newest. One value if the run was evaluated once; empty if never. */
  heldOut: number[];
}

const heldOutOf = (values: StepMetrics = { step: 0 }) => values[heldOutName(Object.keys(values)) ?? ''];

export const hasHeldOut = (values: StepMetrics) => heldOutOf(values) !== undefined;

/**
 * @param last metrics of the last `LAST_STEPS` steps
 * @param first metrics of the first step with a held-out reward
 * @param newest metrics of the newest step with a held-out reward
 */
export function summaryOf(last: readonly StepMetrics[], first: StepMetrics | undefined, newest: StepMetrics | undefined): RunSummary {
  const rewards = last.flatMap((values) => values['critic/score/mean'] ?? []);
  const evaluated = first?.step === newest?.step ? [first] : [first, newest];
  return {
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    heldOut: evaluated.flatMap((values) => heldOutOf(values) ?? []),
  };
}

export const summaryOfAll = (metrics: readonly StepMetrics[]) =>
  summaryOf(metrics.slice(-LAST_STEPS), metrics.find(hasHeldOut), metrics.findLast(hasHeldOut));
