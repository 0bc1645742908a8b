/** @file The reward: whether the episode changed the same rows in the same way as the gold actions. */
import { runDrafted, type TableDomain } from './domain.ts';
import { canonicalJson, equalJson } from '../base/json.ts';
import { Overlay, type World } from './overlay.ts';
import type { RowChange, Task, Verdict } from '../records/task.ts';

/**
 * The rows that the task's gold actions change when our own tools replay them. A gold action that fails changes nothing
 * more than it would in an episode, and the replay continues, as in tau-bench.
 */
export function replayGold(definition: TableDomain, base: World | Overlay, task: Pick<Task, 'actions' | 'level'>): RowChange[] {
  const overlay = new Overlay(base);
  for (const [call, action] of task.actions.entries()) {
    overlay.apply(runDrafted(definition, overlay, action, task.level, call).written);
  }
  return overlay.changes();
}

const idOf = (change: RowChange) => canonicalJson([change.table, change.key]);

/** How many rows of `goal` are among `changes` with the same value. */
export function countRight(changes: readonly RowChange[], goal: readonly RowChange[]): number {
  const made = new Map(changes.map((change) => [idOf(change), change.after]));
  return goal.filter((change) => made.has(idOf(change)) && equalJson(made.get(idOf(change)), change.after)).length;
}

/**
 * Compares two sets of changed rows over the same base. The order of keys does not matter, the order of a list does, and
 * numbers are JavaScript numbers. A row equal to its base counts as unchanged (`Overlay.changes` leaves it out).
 * `progress` is the share of right rows among the rows that the goal or the episode changes: damage to other rows counts.
 */
export function compareOverlays(changes: RowChange[], goal: RowChange[]): Verdict {
  const right = countRight(changes, goal);
  const reward = right === goal.length && changes.length === goal.length ? 1 : 0;
  const touched = new Set([...changes, ...goal].map(idOf)).size;
  return { reward, changes, goal, progress: touched > 0 ? right / touched : 1 };
}
