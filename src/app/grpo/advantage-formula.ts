/** @file Writes GRPO's formula of the advantage with the numbers of a group. */
import { totalReward } from '../../base/total-reward.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Group } from '../run-data/groups.ts';
import { number } from '../kit/format.ts';

/** The settings that decide the formula. Imported runs can lack `adv_estimator` and `algorithm`. */
export type Settings = Partial<Pick<GrpoConfig, 'algorithm' | 'adv_estimator'>> & Pick<GrpoConfig, 'norm_adv_by_std_in_grpo'>;
type Scored = Pick<RolloutSummary, 'reward' | 'rewards' | 'advantage'>;

/** The estimator of a run's advantages; null if the run has a training method without advantages. */
export const estimatorOf = ({ algorithm: method = 'grpo', adv_estimator = 'grpo' }: Settings): GrpoConfig['adv_estimator'] | null =>
  method === 'grpo' ? adv_estimator : null;

/** GRPO's formula of the advantage in words; null for other estimators. */
export const formulaInWords = (settings: Settings): string | null =>
  estimatorOf(settings) !== 'grpo'
    ? null
    : settings.norm_adv_by_std_in_grpo
      ? '(reward − mean) / standard deviation = advantage'
      : 'reward − mean = advantage';

/**
 * Writes the formula of a rollout, such as `(1 − 0.25) / 0.463 = 1.62`, or `1 − 0.25 = 0.75` if the run does not divide by the standard
 * deviation. Null if another estimator was used, if the rollout has no advantage yet, or if the formula does not give the stored advantage.
 * (It does not if the reward included a price of the length, which is not stored with the rollout.)
 */
export function advantageFormula(rollout: Scored, { mean, std }: Pick<Group, 'mean' | 'std'>, settings: Settings): string | null {
  const { reward, advantage } = rollout;
  if (estimatorOf(settings) !== 'grpo' || reward === null || advantage === null || mean === null || std === null) return null;
  const total = totalReward(rollout);
  const equal = Math.abs(total - mean) < 1e-9;
  const divide = settings.norm_adv_by_std_in_grpo && !equal;
  const value = divide ? (total - mean) / std : total - mean;
  if (!(Math.abs(value - advantage) <= 1e-3 * Math.max(1, Math.abs(advantage)))) return null;
  const difference = `${number(total)} − ${mean < 0 ? `(${number(mean)})` : number(mean)}`;
  return divide ? `(${difference}) / ${number(std)} = ${number(advantage)}` : `${difference} = ${number(equal ? 0 : advantage)}`;
}

/** The formulas of the highest and of the lowest reward of a group. A formula that `advantageFormula` cannot write is left out. */
export function groupFormulas(group: Group, settings: Settings): { reward: number; text: string }[] {
  const found = new Map<number, string>();
  for (const rollout of group.rollouts) {
    const text = advantageFormula(rollout, group, settings);
    if (text !== null) found.set(totalReward(rollout), text);
  }
  const sorted = [...found].sort(([a], [b]) => b - a).map(([reward, text]) => ({ reward, text }));
  return sorted.length > 2 ? [sorted[0]!, sorted.at(-1)!] : sorted;
}
