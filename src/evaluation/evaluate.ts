/** @file Plays a set of tasks and reports the results. */
import type { LiveEpisode } from '../agent/live.ts';
import { collectRollouts, type RolloutPlan, type Stage } from '../agent/rollouts.ts';
import type { EpisodeLimits, Sampling } from '../records/episode.ts';
import type { EvaluationReport } from '../records/evaluation.ts';
import type { Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { reportOf } from './report.ts';

export interface Evaluation {
  report: EvaluationReport;
  /** Trajectories without a score come last. */
  trajectories: Trajectory[];
  /** The same tasks with greedy decoding, where the run asks for both. */
  greedy?: Evaluation;
}

export interface EvaluationPlan {
  tasks: readonly Task[];
  /** As `RolloutPlan.places`. */
  places?: RolloutPlan['places'];
  trials: number;
  limits: EpisodeLimits;
  sampling: Sampling;
  seed: number;
  /** The first sampler stream. An evaluation uses other streams than the training, so it never changes the training. */
  firstStream: number;
  concurrency: number;
  /** As `RolloutPlan.maxRetries`. */
  maxRetries?: number | undefined;
  player?: RolloutPlan['player'];
  signal?: AbortSignal;
  /** Called at the start, and when a trial has ended. */
  onProgress?: (done: number, total: number) => void;
  /** `onTrialStart` is called when a trial starts, and `onTrial` when it ends. */
  onTrialStart?: ((episode: LiveEpisode) => void) | undefined;
  onTrial?: ((trajectory: Trajectory) => void) | undefined;
  /** The trials of this plan that were scored earlier. They are not played again. */
  done?: readonly Trajectory[];
}

/** Each trial of a task draws its customer's seed anew, as in tau-bench. Trials with the same index have the same seeds in every evaluation. */
export async function evaluate(stage: Stage, plan: EvaluationPlan): Promise<Evaluation> {
  const start = performance.now();
  const total = plan.tasks.length * plan.trials;
  let done = plan.done?.length ?? 0;
  plan.onProgress?.(done, total);
  const { groups, dropped } = await collectRollouts(stage, {
    tasks: plan.tasks,
    places: plan.places,
    n: plan.trials,
    limits: plan.limits,
    sampling: plan.sampling,
    seed: plan.seed,
    newCustomers: true,
    firstStream: plan.firstStream,
    label: 'eval',
    concurrency: plan.concurrency,
    maxRetries: plan.maxRetries,
    done: plan.done,
    player: plan.player,
    signal: plan.signal,
    onStart: plan.onTrialStart,
    onDone: (trajectory) => {
      plan.onTrial?.(trajectory);
      plan.onProgress?.(++done, total);
    },
  });
  const trajectories = [...groups.flat(), ...dropped];
  return { report: reportOf(trajectories, plan.trials, (performance.now() - start) / 1000), trajectories };
}
