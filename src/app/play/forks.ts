/** @file From which messages of a played conversation the visitor can play on. */
import { path } from '../../base/message-path.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type From, forkAt } from '../branches/play-origin.ts';
import type { Role } from './setting.ts';

/**
 * The fork at each message, by the message's id. Messages of the stored conversation have an address, later messages are
 * reached in place. A message is absent if a fork there would change nothing.
 * @param kept how many messages the stored conversation shares with `shown`
 */
export function forksOf(
  shown: Pick<Trajectory, 'nodes' | 'leaf' | 'termination'>,
  as: Role,
  stored: (Omit<From, 'node'> & { trajectory: Trajectory }) | null,
  kept: number,
): Map<number, From | 'in place'> {
  const forks = new Map<number, From | 'in place'>();
  shown.nodes.forEach(({ id }, i) => {
    if (forkAt(shown, id, as) === null) return;
    if (!stored || i >= kept) {
      forks.set(id, 'in place');
      return;
    }
    const { trajectory, ...origin } = stored;
    const node = forkAt(trajectory, path(trajectory)[i]!.id, as);
    if (node !== null) forks.set(id, { ...origin, node });
  });
  return forks;
}
