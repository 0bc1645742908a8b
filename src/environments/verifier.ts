/** @file Computes the reward: whether the episode changed the same rows in the same way as the gold actions. */
import { runDrafted, type TableDomain } from './domain.ts';
import { canonicalJson, equalJson } from '../base/json.ts';
import { Overlay, type World } from './overlay.ts';
import type { RowChange, Task, Verdict } from '../records/task.ts';

/**
 * The rows that the task's gold actions change when our tools replay them. A gold action that fails changes only what it would
 * change in an episode, and the replay continues, as in tau-bench.
 */
export function replayGold(definition: TableDomain, base: World | Overlay, task: Pick<Task, 'actions' | 'level'>): RowChange[] {
  const overlay = new Overlay(base);
  for (const [call, action] of task.actions.entries()) {
    overlay.apply(runDrafted(definition, overlay, action, task.level, call).written);
  }
  return overlay.changes();
}

/** Identifies the row of a change. */
export const rowId = (change: RowChange): string => canonicalJson([change.table, change.key]);

/** The number of rows of `goal` that have the same value in `changes`. */
export function countRight(changes: readonly RowChange[], goal: readonly RowChange[]): number {
  const made = new Map(changes.map((change) => [rowId(change), change.after]));
  return goal.filter((change) => made.has(rowId(change)) && equalJson(made.get(rowId(change)), change.after)).length;
}

/**
 * Compares two sets of changed rows over the same base. The order of keys does not matter; the order of a list does. Numbers
 * are compared as JavaScript numbers. A row that equals its base counts as unchanged (`Overlay.changes` does not contain it).
 * `progress` is the share of right rows among the rows that the goal or the episode changes, so damage to other rows lowers
 * it.
 */
export function compareOverlays(changes: RowChange[], goal: RowChange[]): Verdict {
  const right = countRight(changes, goal);
  const reward = right === goal.length && changes.length === goal.length ? 1 : 0;
  const touched = new Set([...changes, ...goal].map(rowId)).size;
  return { reward, changes, goal, progress: touched > 0 ? right / touched : 1 };
}
