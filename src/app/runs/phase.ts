/** @file Says in words what a run does now, and estimates the time that is left. */
import type { GrpoConfig } from '../../records/run.ts';
import type { RunProgress } from '../clients/trainer-client.svelte.ts';
import type { MetricSeries } from '../run-data/series.ts';

const PHASES: Record<RunProgress['phase'], string> = {
  rollout: 'Playing conversations',
  score: 'Scoring by the reference',
  update: 'Updating the weights',
  evaluate: 'Held-out evaluation',
  compile: 'Loading the model and compiling kernels',
};

export const phaseName = ({ phase }: RunProgress): string => PHASES[phase];

/** The progress of the phase; '' if the trainer does not report it. In an update, the current mini-batch counts too. */
export function phasePosition({ phase, done, total }: RunProgress): string {
  if (phase === 'rollout' || phase === 'evaluate') return `${done} of ${total}`;
  return phase === 'update' && total > 1 ? `mini-batch ${done + 1} of ${total}` : '';
}

/**
 * Estimates the seconds until the end of the run from the median times of the finished steps; null before the first step has ended. An
 * episode of an evaluation is assumed to take as long as an episode of a step.
 */
export function secondsLeft(series: MetricSeries, config: GrpoConfig, { step, phase, done, total }: RunProgress): number | null {
  const whole = series.median('timing_s/step');
  if (whole === null) return null;
  const { total_training_steps: last, train_batch_size, n, val_tasks, test_freq } = config;
  const [gen, ref] = [series.median('timing_s/gen') ?? 0, series.median('timing_s/ref') ?? 0];
  const evaluation = val_tasks > 0 ? (gen * val_tasks) / (train_batch_size * n) : 0;
  const rest = 1 - done / Math.max(1, total);
  const inPhase = {
    compile: 0,
    rollout: whole - gen * (1 - rest),
    score: whole - gen,
    update: (whole - gen - ref) * rest,
    evaluate: evaluation * rest,
  }[phase];
  const due = (at: number) => at === last || (test_freq > 0 && at % test_freq === 0);
  let seconds = inPhase;
  if (phase !== 'evaluate' && phase !== 'compile' && due(step)) seconds += evaluation;
  for (let at = step + 1; at <= last; at++) seconds += whole + (due(at) ? evaluation : 0);
  return seconds;
}
