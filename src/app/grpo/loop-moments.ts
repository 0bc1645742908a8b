/** @file Chooses the group that the picture of GRPO’s loop shows, and the token to which its last two parts lead. */
import { path } from '../../base/message-path.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type Group, groupRollouts } from '../run-data/groups.ts';

/** A token of a rollout: the rollout's id, and the token's position in the whole sequence. */
export interface TokenMoment {
  id: string;
  position: number;
}

/** The newest mixed group in which each conversation is stored with Δp, the change by the update. Undefined if there is none. */
export function explainedGroup(rollouts: readonly RolloutSummary[], trajectories: readonly Trajectory[]): Group | undefined {
  const changed = new Set(trajectories.filter((one) => mostChanged([one])).map(({ id }) => id));
  return groupRollouts(rollouts).findLast((group) => group.outcome === 'mixed' && group.rollouts.every(({ id }) => changed.has(id)));
}

/** The token whose probability the update changed most; null if no Δp is stored. */
export function mostChanged(trajectories: readonly Trajectory[]): TokenMoment | null {
  let found: TokenMoment | null = null;
  let largest = -1;
  for (const trajectory of trajectories) {
    let start = 0;
    for (const { tokens, annotations } of path(trajectory)) {
      for (const [t, change] of (annotations?.delta_p ?? []).entries()) {
        if (change === null || Math.abs(change) <= largest) continue;
        found = { id: trajectory.id, position: start + t };
        largest = Math.abs(change);
      }
      start += tokens.length;
    }
  }
  return found;
}
