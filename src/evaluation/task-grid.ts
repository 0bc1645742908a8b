/** @file Groups the trials of an evaluation by task. */
import type { TrialResult } from '../records/evaluation.ts';

/** A short name of a task: `retail/nano/heldout/1/7` becomes `7`, because only the last part differs within an evaluation. */
export const taskLabel = (task: string) => task.split('/').at(-1) ?? task;

export interface GridRow {
  task: string;
  intent: string;
  /** The trials of the task, sorted by their number. */
  trials: TrialResult[];
}

/** Makes one row for each task, in the order of the evaluation's tasks. */
export function taskGrid(results: readonly TrialResult[]): GridRow[] {
  const rows = new Map<string, GridRow>();
  for (const result of results) {
    const row = rows.get(result.task);
    if (row) row.trials.push(result);
    else rows.set(result.task, { task: result.task, intent: result.intent, trials: [result] });
  }
  for (const { trials } of rows.values()) trials.sort((a, b) => a.index - b.index);
  return [...rows.values()].sort((a, b) => a.task.localeCompare(b.task, 'en', { numeric: true }));
}

/** The trials in the order of the grid, row by row. */
export const inTaskOrder = (results: readonly TrialResult[]) => taskGrid(results).flatMap(({ trials }) => trials);
