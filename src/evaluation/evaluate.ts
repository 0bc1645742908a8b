/** @file Plays a task set and reports how it went. */
import { collectRollouts, type Stage } from '../agent/rollouts.ts';
import type { EpisodeRules } from '../agent/rules.ts';
import type { EpisodeLimits, Sampling, Trajectory } from '../agent/types.ts';
import type { Task } from '../environments/types.ts';
import { type EvaluationReport, reportOf } from './report.ts';

export interface Evaluation {
  report: EvaluationReport;
  /** Those without a score come last. */
  trajectories: Trajectory[];
}

export interface EvaluationPlan {
  tasks: readonly Task[];
  trials: number;
  limits: EpisodeLimits;
  sampling: Sampling;
  seed: number;
  /** Sampler streams of an evaluation are its own, so that evaluating never changes training. */
  firstStream: number;
  concurrency: number;
  /** Departures from the rules of the domain's benchmark. */
  rules?: Partial<EpisodeRules>;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

export async function evaluate(stage: Stage, plan: EvaluationPlan): Promise<Evaluation> {
  const start = performance.now();
  const total = plan.tasks.length * plan.trials;
  let done = 0;
  const { groups, dropped } = await collectRollouts(stage, {
    tasks: plan.tasks,
    n: plan.trials,
    limits: plan.limits,
    sampling: plan.sampling,
    seed: plan.seed,
    firstStream: plan.firstStream,
    label: 'eval',
    concurrency: plan.concurrency,
    ...(plan.rules && { rules: plan.rules }),
    signal: plan.signal,
    onDone: () => plan.onProgress?.(++done, total),
  });
  const trajectories = [...groups.flat(), ...dropped];
  return { report: reportOf(trajectories, plan.trials, (performance.now() - start) / 1000), trajectories };
}
