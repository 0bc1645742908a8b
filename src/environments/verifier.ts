/** @file The reward: does the episode's overlay equal the one that the gold actions make? */
import { runDrafted, type DomainDefinition } from './domain.ts';
import { canonicalJson, equalJson } from './json.ts';
import { Overlay, type World } from './overlay.ts';
import type { RowChange, Task, Verdict } from './types.ts';

/**
 * The rows that the task's gold actions change, by replaying them in our own tools. A gold action that fails changes
 * no more than in an episode, and the replay goes on, as in tau-bench.
 */
export function replayGold(definition: DomainDefinition, base: World | Overlay, task: Pick<Task, 'actions' | 'level'>): RowChange[] {
  const overlay = new Overlay(base);
  for (const [call, action] of task.actions.entries()) {
    overlay.apply(runDrafted(definition, overlay, action, task.level, call).written);
  }
  return overlay.changes();
}

/**
 * Compares two sets of changed rows over the same base. Key order is irrelevant, list order significant, numbers are
 * JavaScript numbers; a row equal to its base counts as unchanged (`Overlay.changes` leaves it out).
 */
export function compareOverlays(changes: RowChange[], goal: RowChange[]): Verdict {
  const id = (change: RowChange) => canonicalJson([change.table, change.key]);
  const made = new Map(changes.map((change) => [id(change), change.after]));
  const right = goal.filter((change) => made.has(id(change)) && equalJson(made.get(id(change)), change.after)).length;
  const reward = right === goal.length && changes.length === goal.length ? 1 : 0;
  return { reward, changes, goal, progress: goal.length ? right / goal.length : reward };
}
