/**
 * @file Faults of tools: outages, stale reads and timeouts. They depend only on the task and the number of the call, so a repeated
 * conversation has the same faults.
 */
import { Dice } from '../base/dice.ts';
import type { Task } from '../records/task.ts';

/** The result of a call during an outage. The call changes nothing, and the agent can try again. */
export const OUTAGE = 'Error: the service is busy, please try again';

/** The answer to a call that timed out. Only a second call shows whether the first call was carried out. */
export const TIMEOUT = 'Error: timeout, perhaps not done';

/**
 * The fault of a call. `timeout`: the call is lost. `late`: the call is carried out. The agent gets the same result for both.
 * @param index the number of the call in the episode, from 0
 */
export function faultOf({ id, faults }: Task, index: number): 'outage' | 'stale_read' | 'timeout' | 'late' | null {
  if (!faults) return null;
  const dice = new Dice('tool faults', id, index);
  if (dice.chance(faults.outages)) return 'outage';
  if (dice.chance(faults.stale_reads)) return 'stale_read';
  if (index % 2 === 0 && dice.chance(faults.timeouts)) return dice.chance(0.5) ? 'timeout' : 'late';
  return null;
}
