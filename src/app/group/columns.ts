/** @file The rollouts of a group as columns of moves, and the way most of them take. */
import type { Trajectory } from '../../agent/types.ts';
import type { RolloutSummary } from '../../training/types.ts';
import { type Turn, turnsOf } from '../logic/acts.ts';
import { divergence, type Divergence } from '../logic/divergence.ts';
import type { Query } from '../logic/routes.ts';

export interface Column {
  rollout: RolloutSummary;
  /** Undefined: its words are not stored. */
  trajectory: Trajectory | undefined;
  turns: Turn[];
  /** Its place in the divergence; -1 where it has no words. */
  at: number;
}

/** In the order of the address: the best first, the fewest turns first, or as they were played. */
export function columnsOf(rollouts: readonly RolloutSummary[], trajectories: ReadonlyMap<string, Trajectory>, sort: Query<'group'>['sort']): { columns: Column[]; parting: Divergence } {
  let told = 0;
  const columns = rollouts.map((rollout): Column => {
    const trajectory = trajectories.get(rollout.id);
    return { rollout, trajectory, turns: trajectory ? turnsOf(trajectory).turns : [], at: trajectory ? told++ : -1 };
  });
  const known = columns.filter(({ trajectory }) => trajectory);
  const parting = divergence(known.map(({ turns }) => turns.map(({ move }) => move)), known.map(({ rollout }) => rollout.reward));
  if (sort === 'reward') columns.sort((a, b) => (b.rollout.reward ?? -Infinity) - (a.rollout.reward ?? -Infinity) || 0);
  if (sort === 'turns') columns.sort((a, b) => a.rollout.turns - b.rollout.turns);
  return { columns, parting };
}

/** Two are pinned at most: the newest takes the place of the older. */
export function pin(pinned: readonly string[], id: string): string[] {
  return pinned.includes(id) ? pinned.filter((other) => other !== id) : [...pinned, id].slice(-2);
}
