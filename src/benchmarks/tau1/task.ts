/** @file A task of tau-bench v1, and its reader. */
import type { Json } from '../../records/json.ts';
import type { TaskReader } from '../definition.ts';

export interface Tau1Action {
  name: string;
  kwargs: Record<string, Json>;
}

export interface Tau1Task {
  /** The id of the task: `<split>/<index>`. */
  id: string;
  user_id: string;
  instruction: string;
  actions: Tau1Action[];
  /** The texts that the agent must say. */
  outputs: string[];
}

export const tau1TaskReader: TaskReader<Tau1Task> = {
  gold: ({ actions }) => actions.map(({ name, kwargs }) => ({ name, arguments: kwargs })),
  instruction: ({ instruction }) => instruction,
  outputs: ({ outputs }) => outputs,
  withoutOutputs: (task) => ({ ...task, outputs: [] }),
  criteria: ({ outputs }) => ({ outputs }),
  // tau-bench numbers the tasks of each split. A number without a split means a task of the test split.
  find: (tasks, id) => tasks.find((task) => task.id === `test/${id}`),
};
