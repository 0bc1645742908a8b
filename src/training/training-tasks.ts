/** @file The tasks of a training step, as the run's settings choose and change them. */
import type { Stage } from '../agent/rollouts.ts';
import { withoutOutputs } from '../environments/exact/benchmark-task.ts';
import type { Task } from '../environments/types.ts';
import { permutation } from '../random.ts';
import type { GrpoConfig } from './types.ts';

type Settings = Pick<GrpoConfig, 'domain' | 'level' | 'train_split' | 'train_batch_size' | 'val_tasks' | 'filter_noop_tasks' | 'check_outputs' | 'seed'>;

/**
 * Tasks of step `step` (from 1). Generated ones are numbered without end. A set that has an end (an import, or the tasks
 * that held-out evaluation plays) comes round in epochs, each in an order of its own.
 * @throws when the split has no tasks
 */
export async function trainingTasks({ domain: played, environments }: Pick<Stage, 'domain' | 'environments'>, config: Settings, step: number): Promise<Task[]> {
  const { domain, level, train_split: split, train_batch_size, val_tasks, seed } = config;
  const from = (step - 1) * train_batch_size;
  const query = { domain, level, split, seed };
  const wanted = (task: Task) => !(config.filter_noop_tasks && task.noop);
  const prepared = (tasks: Task[]) => (config.check_outputs ? tasks : tasks.map(withoutOutputs));
  if (!played.finite && split === 'train') return prepared((await environments.tasks({ ...query, count: train_batch_size, from })).filter(wanted));
  const all = (await environments.tasks({ ...query, count: played.finite ? Number.MAX_SAFE_INTEGER : val_tasks })).filter(wanted);
  if (all.length === 0) throw new Error(`train_split is "${split}": ${domain} has no tasks there to train on`);
  return prepared(Array.from({ length: train_batch_size }, (_, i) => {
    const place = from + i;
    return all[permutation(all.length, seed, Math.floor(place / all.length))[place % all.length]!]!;
  }));
}
