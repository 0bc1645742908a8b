/** @file The result of a step of any training method, and the metrics that all methods share. */
import { flatten } from '../agent/trajectory.ts';
import type { StepMetrics } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { judgeMetrics } from './judge-metrics.ts';
import { rolloutMetrics } from './metrics.ts';
import { behaviourMetrics } from './behaviour-metrics.ts';
import type { StepRollouts } from './step-batch.ts';

export interface StepResult {
  metrics: StepMetrics;
  trajectories: Trajectory[];
  /** The weight of each trajectory in the update, by id. For GRPO it is the group advantage; for `rft` it is 1 or 0. */
  advantages: Map<string, number>;
}

/** Metrics of what the rollouts of a step did and what they cost. Dropped rollouts are only counted. */
export function sampledMetrics(rollouts: StepRollouts, step: number, clock: Stopwatch): StepMetrics {
  const { groups, dropped, retried, genBatches, unjudged } = rollouts;
  const trajectories = groups.flat();
  const flat = trajectories.map(flatten);
  const played = Math.max(1, trajectories.length);
  return {
    step,
    'training/global_step': step,
    ...rolloutMetrics(groups),
    ...behaviourMetrics(rollouts),
    ...judgeMetrics(trajectories),
    ...(unjudged > 0 && { 'judge/dropped_groups': unjudged }),
    'train/num_gen_batches': genBatches,
    'rollout/dropped': dropped.length,
    'rollout/retried': retried,
    'timing_s/user': sum(trajectories, (t) => t.seconds.user) / played,
    'timing_s/tool': sum(trajectories, (t) => t.seconds.tool) / played,
    'perf/total_sampled_tokens': sum(flat, ({ lossMask }) => sum(lossMask, Number)),
    ...clock.metrics(sum(flat, ({ tokens }) => tokens.length)),
  };
}

export const sum = <T>(items: readonly T[], value: (item: T) => number) => items.reduce((total, item) => total + value(item), 0);

/** Measures verl's timing_s/*: the seconds between laps. Laps with the same name are added. */
export class Stopwatch {
  #start = performance.now();
  #last = this.#start;
  readonly #laps: Record<string, number> = {};

  lap(name: string): void {
    const now = performance.now();
    this.#laps[`timing_s/${name}`] = (this.#laps[`timing_s/${name}`] ?? 0) + (now - this.#last) / 1000;
    this.#last = now;
  }
  /** Waits without counting the time. */
  async rest(until: (() => Promise<void>) | undefined): Promise<void> {
    const from = performance.now();
    await until?.();
    const rested = performance.now() - from;
    this.#start += rested;
    this.#last += rested;
  }
  /** @param tokens all tokens of the step's conversations */
  metrics(tokens: number): Record<string, number> {
    const seconds = (performance.now() - this.#start) / 1000;
    return {
      ...this.#laps,
      'timing_s/step': seconds,
      'perf/total_num_tokens': tokens,
      'perf/time_per_step': seconds,
      'perf/throughput': tokens / seconds,
    };
  }
}
