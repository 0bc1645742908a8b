/** @file The answers of a run's first model, which a judge compares with later answers. */
import { collectRollouts, type Stage } from '../agent/rollouts.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Task } from '../records/task.ts';
import { answerOf } from './judge.ts';
import { ORIGINAL_STREAM } from './presets.ts';
import { trainingTasks } from './training-tasks.ts';

/**
 * Samples one answer to each prompt of the run, with the weights that the engine has now. They must be those before step 1. The
 * answers depend only on these weights and the settings, so a continued run gets the same ones.
 * @returns prompt → answer, null if it is not complete
 */
export async function originalAnswers(
  stage: Stage,
  config: GrpoConfig,
  options: { concurrency: number; signal?: AbortSignal; onProgress?: (done: number, total: number) => void },
): Promise<Map<string, string | null>> {
  const tasks = new Map<string, Task>();
  for (let step = 1; step <= config.total_training_steps; step++)
    for (const task of await trainingTasks(stage, config, step))
      if (!tasks.has(task.scenario.instruction)) tasks.set(task.scenario.instruction, task);
  if (tasks.size === 0) return new Map();
  let done = 0;
  const { groups, dropped } = await collectRollouts(stage, {
    tasks: [...tasks.values()],
    n: 1,
    limits: config,
    sampling: config,
    seed: config.seed,
    firstStream: ORIGINAL_STREAM,
    label: 'original',
    concurrency: options.concurrency,
    signal: options.signal,
    onDone: () => options.onProgress?.(++done, tasks.size),
  });
  if (dropped[0]) throw new Error(`no original answer to "${dropped[0].task.scenario.instruction}": ${dropped[0].error}`);
  return new Map(groups.flat().map((trajectory) => [trajectory.task.scenario.instruction, answerOf(trajectory)]));
}
