/** @file Tasks as they are needed in lists, in searches and for playing the gold actions. */
import { wantOf } from '../benchmarks/tasks.ts';
import type { Task } from '../records/task.ts';
import { shortened } from './row-text.ts';
import type { TaskSummary } from './types.ts';
import { wordSearch } from './word-search.ts';

export const taskSummary = (task: Task): TaskSummary => ({
  id: task.id,
  label: labelOf(task),
  wants: shortened(wantOf(task), 200),
  actions: task.actions.length,
  noop: task.noop,
});

/** The tasks that contain every word of the query. */
export function searchTasks(tasks: readonly Task[], query: string): readonly Task[] {
  if (query.trim() === '') return tasks;
  const matches = wordSearch(query);
  return tasks.filter((task) =>
    matches(`${task.id} ${task.noop ? 'no-op' : ''} ${task.scenario.instruction} ${JSON.stringify(task.actions)}`),
  );
}

/** A short name of a task: the id in its benchmark, or the number of a generated task. */
export const labelOf = ({ id, benchmark }: Task) => (benchmark && benchmark.id !== id ? benchmark.id : id.split('/').at(-1)!);
