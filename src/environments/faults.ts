/**
 * @file Faults of tools: outages and stale reads. They depend only on the task and the number of the call, so a repeated
 * conversation has the same faults.
 */
import { Dice } from '../base/dice.ts';
import type { Task } from '../records/task.ts';

/** The result of a call during an outage. The call changes nothing, and the agent can try again. */
export const OUTAGE = 'Error: the service is busy, please try again';

/** @param index the number of the call in the episode, from 0 */
export function faultOf({ id, faults }: Task, index: number): 'outage' | 'stale_read' | null {
  if (!faults) return null;
  const dice = new Dice('tool faults', id, index);
  if (dice.chance(faults.outages)) return 'outage';
  return dice.chance(faults.stale_reads) ? 'stale_read' : null;
}
