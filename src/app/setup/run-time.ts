/** @file Estimates how long a run takes: from an earlier run in this browser, or from times that were measured elsewhere. */
import type { GrpoConfig } from '../../records/run.ts';
import { evaluatesFirst } from '../../training/evaluation-settings.ts';

/** The settings that decide how many conversations a run plays. */
export type Size = Pick<GrpoConfig, 'total_training_steps' | 'train_batch_size' | 'n' | 'test_freq' | 'val_tasks' | 'val_before_train'>;

/** An earlier run in this browser, and the median time of its steps in seconds. */
export interface EarlierRun {
  preset: string;
  config: Pick<GrpoConfig, 'train_batch_size' | 'n'>;
  stepSeconds: number;
}

/**
 * Seconds per conversation of a whole run with a preset, on two processor cores without a graphics card: 672 conversations in 54 s
 * (docs/results/glimpse.md), 3,560 in 25 minutes (nano.md) and 3,560 in 30 minutes (small.md). Steps of `timeouts` took as long as those of
 * `glimpse`, side by side (`mua train --preset NAME --steps 4`, twice each).
 */
export const MEASURED: Readonly<Record<string, number>> = { glimpse: 0.08, timeouts: 0.08, nano: 0.42, small: 0.5 };

/** The number of evaluations after step 1 or a later step, which `evaluatesAfter` tells one by one. */
const evaluationsAfter = ({ total_training_steps: steps, test_freq }: Size): number =>
  test_freq > 0 ? Math.ceil(steps / test_freq) : Math.min(1, steps);

/** The number of conversations of a run: rollouts, and trials of the evaluations before, during and after training. */
export function conversationsOf(size: Size): number {
  const { total_training_steps: steps, train_batch_size, n, val_tasks } = size;
  return steps * train_batch_size * n + (Number(evaluatesFirst(size)) + evaluationsAfter(size)) * val_tasks;
}

/**
 * The seconds that a run with a preset takes. `here`: whether an earlier run on this machine was measured. Null if nothing is known
 * about the preset.
 * @param earlier a run with this preset or, if there is none, with another preset of `MEASURED`
 */
export function runTime(preset: string, size: Size, earlier: EarlierRun | null): { seconds: number; here: boolean } | null {
  const conversations = conversationsOf(size);
  const measured = MEASURED[preset];
  if (!earlier) return measured === undefined ? null : { seconds: conversations * measured, here: false };
  const pace = earlier.stepSeconds / (earlier.config.train_batch_size * earlier.config.n);
  if (earlier.preset === preset) return { seconds: conversations * pace, here: true };
  const usual = MEASURED[earlier.preset];
  if (measured === undefined || usual === undefined) return null;
  return { seconds: conversations * measured * (pace / usual), here: true };
}
