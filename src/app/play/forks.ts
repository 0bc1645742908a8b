/** @file Finds the messages of a played conversation from which the visitor can continue. */
import { path } from '../../base/message-path.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type From, forkAt } from '../branches/play-origin.ts';
import type { Role } from './setting.ts';

/**
 * The fork at each message, by the message's id. A fork at a message of the stored conversation has an address. A fork at a later message
 * is `in place`: the page goes back to the message without a new address. A message at which a fork would change nothing is absent.
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
