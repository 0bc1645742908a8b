/** @file Chooses the tasks of a training step and changes them, as the run's settings say. */
import type { Stage } from '../agent/rollouts.ts';
import { withoutOutputs } from '../benchmarks/tasks.ts';
import { conditionsOf } from '../environments/conditions.ts';
import { evaluationTasks, trainingIndex } from '../environments/task-order.ts';
import type { ConditionSettings, ValidationConditionSettings } from '../records/conditions.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Task } from '../records/task.ts';
import { permutation } from '../base/random.ts';

type Settings = Pick<
  GrpoConfig,
  | 'domain'
  | 'level'
  | 'train_split'
  | 'train_batch_size'
  | 'val_tasks'
  | 'intents'
  | 'val_intents'
  | 'filter_noop_tasks'
  | 'check_outputs'
  | 'seed'
  | keyof ConditionSettings
  | keyof ValidationConditionSettings
>;

/** Distance between the first task of a step and its extra tasks. It is larger than the number of tasks of any run. */
const STRIDE = 2 ** 20;
/** How often tasks are drawn, at most, to fill a batch without no-op tasks. */
const MAX_DRAWS = 16;

/**
 * The `train_batch_size` tasks of generation batch `genBatch` (from 0) of step `step` (from 1). There is no end to the
 * generated tasks, and those of a step come from several worlds. A finite set (an import, or the tasks of held-out evaluation)
 * is repeated in epochs, each with its own order. The tasks depend only on the settings, `step` and `genBatch`, so a resumed
 * run gets the same tasks.
 * @throws if the split has no tasks, or if it has only no-op tasks and these are excluded
 */
export async function trainingTasks(
  { domain: played, environments }: Pick<Stage, 'domain' | 'environments'>,
  config: Settings,
  step: number,
  genBatch = 0,
): Promise<Task[]> {
  const { domain, level, train_split: split, train_batch_size: size, val_tasks, seed } = config;
  const from = (step - 1) * size + genBatch * MAX_DRAWS * STRIDE;
  const query = { domain, level, split, seed, conditions: conditionsOf(config, split === 'heldout' ? 'val' : 'train') };
  const wanted = (task: Task) => !(config.filter_noop_tasks && task.noop);
  const prepared = (tasks: Task[]) => (config.check_outputs ? tasks : tasks.map(withoutOutputs));
  if (!played.finite && split === 'train') {
    const tasks: Task[] = [];
    for (let draw = 0; tasks.length < size; draw++) {
      if (draw === MAX_DRAWS) throw new Error(`filter_noop_tasks is true: ${domain} has too few tasks that change something`);
      const drawn = Array.from({ length: size }, (_, i) => trainingIndex(from + i) + draw * STRIDE);
      const batches = await Promise.all(drawn.map((index) => environments.tasks({ ...query, count: 1, from: index })));
      tasks.push(...batches.flat().filter(wanted));
    }
    return prepared(tasks.slice(0, size));
  }
  const count = played.finite ? Number.MAX_SAFE_INTEGER : val_tasks;
  const all = (await evaluationTasks({ domain: played, environments }, { ...query, count })).filter(wanted);
  if (all.length === 0)
    throw new Error(
      `setting "train_split" is "${split}": ${domain} has no such tasks; expected ${split === 'train' ? 'heldout' : 'train'}`,
    );
  return prepared(
    Array.from({ length: size }, (_, i) => {
      const place = from + i;
      return all[permutation(all.length, seed, Math.floor(place / all.length))[place % all.length]!]!;
    }),
  );
}
