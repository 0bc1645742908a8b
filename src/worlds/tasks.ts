/** @file Tasks in lists, searches and gold runs. */
import type { Task } from '../records/task.ts';
import { shortened } from './row-text.ts';
import type { TaskSummary } from './types.ts';
import { wordSearch } from './word-search.ts';

export const taskSummary = (task: Task): TaskSummary => ({
  id: task.id,
  label: labelOf(task),
  wants: wantOf(task),
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

/** An imported task's own id, or a generated task's number. */
export const labelOf = ({ id, benchmark }: Task) => (benchmark && benchmark.id !== id ? benchmark.id : id.split('/').at(-1)!);

/** What the customer wants, in one line. tau2's instructions have a field for it. */
function wantOf({ scenario: { instruction }, benchmark }: Task): string {
  const instructions = benchmark && 'user_scenario' in benchmark ? benchmark.user_scenario.instructions : null;
  const reason =
    instructions !== null && typeof instructions === 'object' && !Array.isArray(instructions) ? instructions.reason_for_call : instructions;
  return shortened((typeof reason === 'string' && reason) || instruction, 200);
}

/** The texts that the agent must tell the customer. */
export function toldBy({ benchmark }: Task): string[] {
  if (!benchmark) return [];
  return 'outputs' in benchmark ? benchmark.outputs : (benchmark.evaluation_criteria?.communicate_info ?? []);
}
