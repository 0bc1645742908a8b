/**
 * @file The rewards of the agent's turns: how far each turn moved the database towards the goal of the task.
 *
 * A database is worth right − damaged rows, divided by the rows that the gold actions change (or by 1 if they change none).
 * `reward.partial` counts rows in the same way. A turn earns the worth after its calls minus the worth before: a turn without
 * a write earns 0, a right row 1/rows, a damaged row −1/rows. If the turn replaces a right row by a wrong one, it earns
 * −2/rows. So the rewards of all turns sum to the worth of the database at the end. A row that needs two writes counts as
 * damaged between them.
 *
 * The reward needs only the rows that each call changed and the goal, so it is defined for every scored episode, however the
 * episode ended. It is meant for domains in which only the agent changes rows (`rewardsTurns` of the domain).
 */
import { path } from '../base/message-path.ts';
import { equalJson } from '../base/json.ts';
import { countRight, rowId } from '../environments/verifier.ts';
import type { RowChange } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { Turn } from './advantages.ts';

/**
 * The turns of the agent in order, with their rewards before the weight `reward.turn`. A turn is a message with sampled tokens.
 * Calls of other messages, such as those of a history, change the database but belong to no turn.
 * @throws if the episode was not scored
 */
export function turnsOf(trajectory: Pick<Trajectory, 'id' | 'nodes' | 'leaf' | 'verdict'>): Turn[] {
  const { id, verdict } = trajectory;
  if (!verdict) throw new Error(`the episode ${id} has no verdict: expected a scored episode, as the rewards of turns need its goal`);
  const { goal } = verdict;
  const rows = new Map<string, RowChange>();
  /** Right rows minus damaged rows. */
  const worth = () => 2 * countRight([...rows.values()], goal) - rows.size;
  const turns: Turn[] = [];
  let turn: Turn | undefined;
  for (const { role, mask, toolResult } of path(trajectory)) {
    if (role === 'assistant') {
      const length = mask.reduce((ones, m) => ones + m, 0);
      turn = length > 0 ? { reward: 0, length } : undefined;
      if (turn) turns.push(turn);
    }
    // A call that ends in an error can have changed rows, for example if its answer came too late.
    if (!toolResult || toolResult.changes.length === 0) continue;
    const before = worth();
    for (const change of toolResult.changes) write(rows, change);
    if (turn) turn.reward += worth() - before;
  }
  return turns.map(({ reward, length }) => ({ reward: reward / Math.max(1, goal.length), length }));
}

/** Adds a change to the changed rows. A row that has its first value again is not changed. */
function write(rows: Map<string, RowChange>, change: RowChange): void {
  const key = rowId(change);
  const { before } = rows.get(key) ?? change;
  if (equalJson(before, change.after)) rows.delete(key);
  else rows.set(key, { ...change, before });
}
