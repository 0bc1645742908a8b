/** @file Makes columns of moves from the rollouts of a group, and finds where each column differs from the majority. */
import { recordedReward } from '../../base/total-reward.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type Turn, turnsOf } from '../conversation/aligned/acts.ts';
import { divergence, type Divergence } from '../conversation/aligned/divergence.ts';
import type { Query } from '../routes/routes.ts';

export interface Column {
  rollout: RolloutSummary;
  /** Undefined if the rollout's messages are not stored. */
  trajectory: Trajectory | undefined;
  turns: Turn[];
  /** The rollout's index in the divergence; −1 if its messages are not stored. */
  at: number;
}

/** The columns in the order that the address asks for: the best rollout first, the fewest turns first, or as played. */
export function columnsOf(
  rollouts: readonly RolloutSummary[],
  trajectories: ReadonlyMap<string, Trajectory>,
  sort: Query<'group'>['sort'],
): { columns: Column[]; parting: Divergence } {
  let told = 0;
  const columns = rollouts.map((rollout): Column => {
    const trajectory = trajectories.get(rollout.id);
    return { rollout, trajectory, turns: trajectory ? turnsOf(trajectory).turns : [], at: trajectory ? told++ : -1 };
  });
  const known = columns.filter(({ trajectory }) => trajectory);
  const parting = divergence(
    known.map(({ turns }) => turns.map(({ move }) => move)),
    known.map(({ rollout }) => recordedReward(rollout)),
  );
  if (sort === 'reward') columns.sort((a, b) => (recordedReward(b.rollout) ?? -Infinity) - (recordedReward(a.rollout) ?? -Infinity) || 0);
  if (sort === 'turns') columns.sort((a, b) => a.rollout.turns - b.rollout.turns);
  return { columns, parting };
}

/** At most two rollouts are pinned: a third replaces the older one. */
export function pin(pinned: readonly string[], id: string): string[] {
  return pinned.includes(id) ? pinned.filter((other) => other !== id) : [...pinned, id].slice(-2);
}
