/** @file Sorts the rollouts of a step into groups. */
import { isScored, totalReward } from '../../base/total-reward.ts';
import type { RolloutSummary } from '../../records/rollout.ts';

export interface Group {
  id: string;
  step: number;
  task: string;
  intent: string;
  /** The rollouts of the group, sorted by index. */
  rollouts: RolloutSummary[];
  /** Mean training reward of the scored rollouts; null if no rollout is scored. */
  mean: number | null;
  /** Sample standard deviation of the rewards (divisor n − 1), as in the advantage; null if fewer than two rollouts are scored. */
  std: number | null;
  /**
   * Classifies the group by its binary outcomes, or by the rewards of another tool that does not say the outcomes. Only groups whose rewards
   * differ have a policy gradient.
   */
  outcome: 'mixed' | 'all correct' | 'all wrong' | 'rewards differ' | 'rewards equal' | 'not scored';
}

/** Groups sorted by id. */
export function groupRollouts(rollouts: Iterable<RolloutSummary>): Group[] {
  const byGroup = new Map<string, RolloutSummary[]>();
  for (const rollout of rollouts) {
    const members = byGroup.get(rollout.group);
    if (members) members.push(rollout);
    else byGroup.set(rollout.group, [rollout]);
  }
  return [...byGroup.values()].map(makeGroup).sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
}

/**
 * The step nearest to `asked`; the earlier one of two equally near steps. The newest step if `asked` is null.
 * Null if `steps` is empty.
 * @param steps in ascending order
 */
export function nearestStep(steps: readonly number[], asked: number | null): number | null {
  if (asked === null) return steps.at(-1) ?? null;
  return steps.reduce<number | null>(
    (nearest, step) => (nearest === null || Math.abs(step - asked) < Math.abs(nearest - asked) ? step : nearest),
    null,
  );
}

function makeGroup(members: RolloutSummary[]): Group {
  const rollouts = members.toSorted((a, b) => a.index - b.index);
  const { group, step, task, intent } = rollouts[0]!;
  const scored = rollouts.filter(isScored);
  const rewards = scored.map(totalReward);
  const mean = rewards.length === 0 ? null : rewards.reduce((sum, r) => sum + r, 0) / rewards.length;
  const std =
    mean === null || rewards.length < 2 ? null : Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (rewards.length - 1));
  return {
    id: group,
    step,
    task,
    intent,
    rollouts,
    mean,
    std,
    outcome: outcomeOf(
      scored.flatMap(({ reward }) => reward ?? []),
      rewards,
    ),
  };
}

function outcomeOf(outcomes: readonly number[], rewards: readonly number[]): Group['outcome'] {
  if (rewards.length === 0) return 'not scored';
  if (outcomes.length === 0) return new Set(rewards).size > 1 ? 'rewards differ' : 'rewards equal';
  if (outcomes.every((r) => r === 1)) return 'all correct';
  return outcomes.every((r) => r === 0) ? 'all wrong' : 'mixed';
}
