/**
 * @file One GRPO step (MUA-RL, arXiv 2508.18669 §3; DeepSeekMath, arXiv 2402.03300): roll out groups with the simulated
 * user and the real tools, score them, turn rewards into group advantages, update on the sampled tokens.
 *
 * Where it differs from upstream: old log-probs are the sampler's own (same weights, same kernels; the difference is
 * logged as training/rollout_probs_diff), `token-mean` divides by the whole mini-batch, and tasks are generated without
 * end, so no task is seen twice.
 */
import { collectRollouts, type Rollouts, type Stage } from '../agent/rollouts.ts';
import { departures } from '../agent/rules.ts';
import { flatten } from '../agent/trajectory.ts';
import type { Trajectory } from '../agent/types.ts';
import type { Learner, TrainSequence } from '../engine/types.ts';
import { groupAdvantages, tokenWeights } from './advantages.ts';
import { grpoLoss, grpoTokenLoss } from './grpo-loss.ts';
import { inspectGroup, keptGroup, onMask } from './inspect.ts';
import { rolloutMetrics, samplerMismatch, UpdateMeter } from './metrics.ts';
import { learningRate } from './schedule.ts';
import { trainingTasks } from './training-tasks.ts';
import type { GrpoConfig, StepMetrics } from './types.ts';

export interface StepHooks {
  signal?: AbortSignal;
  /** Called between phases; a paused run waits here. */
  gate?: () => Promise<void>;
  onPhase?: (phase: 'rollout' | 'score' | 'update', done: number, total: number) => void;
  onRollout?: (trajectory: Trajectory) => void;
}

export interface StepResult {
  metrics: StepMetrics;
  trajectories: Trajectory[];
  /** Group advantage of each trajectory, by id. */
  advantages: Map<string, number>;
}

/** A rollout on its way to the update. */
interface Sample {
  trajectory: Trajectory;
  advantage: number;
  tokens: ArrayLike<number>;
  lossMask: ArrayLike<number>;
  oldLogprobs: ArrayLike<number>;
  refLogprobs: ArrayLike<number>;
}

/** Runs step `step` (from 1). Everything random in it is a function of (config.seed, step). */
export async function grpoStep(stage: Stage, learner: Learner, config: GrpoConfig, step: number, hooks: StepHooks = {}): Promise<StepResult> {
  const clock = new Stopwatch();
  const rollouts = await rollOut(stage, config, step, hooks);
  clock.lap('gen');
  await clock.rest(hooks.gate);

  const samples = prepareSamples(rollouts, config);
  const trained = samples.filter(({ advantage, trajectory }) => !(config.filter_groups && advantage === 0) && !(config.mask_truncated && isCut(trajectory)));
  if (config.use_kl_loss && trained.length > 0) {
    hooks.onPhase?.('score', 0, trained.length);
    const { logprobs } = await learner.score(trained.map((s) => ({ ...s, weight: 1 })), { weights: 'reference', temperature: config.temperature || 1, signal: hooks.signal });
    trained.forEach((sample, i) => (sample.refLogprobs = logprobs[i]!));
  }
  clock.lap('ref');
  await clock.rest(hooks.gate);
  const kept = config.inspect ? samples.filter((s) => s.trajectory.group === keptGroup(step)) : [];
  const inspectUpdate = await inspectGroup(learner, kept, config, { trained, signal: hooks.signal });
  if (config.inspect) clock.lap('inspect');

  const update = await updatePolicy(learner, config, step, trained, hooks);
  clock.lap('update_actor');
  await inspectUpdate();
  if (config.inspect) clock.lap('inspect');

  const trajectories = rollouts.groups.flat();
  const seconds = clock.total();
  const tokens = trajectories.reduce((sum, t) => sum + flatten(t).tokens.length, 0);
  const metrics: StepMetrics = {
    step,
    'training/global_step': step,
    ...rolloutMetrics(rollouts.groups),
    ...spreadAdvantages(samples),
    ...update,
    'rollout/dropped': rollouts.dropped.length,
    'rollout/retried': rollouts.retried,
    ...clock.metrics(),
    'timing_s/user': sum(trajectories, (t) => t.seconds.user) / Math.max(1, trajectories.length),
    'timing_s/tool': sum(trajectories, (t) => t.seconds.tool) / Math.max(1, trajectories.length),
    'perf/total_num_tokens': tokens,
    'perf/time_per_step': seconds,
    'perf/throughput': tokens / seconds,
  };
  return { metrics, trajectories: [...trajectories, ...rollouts.dropped], advantages: new Map(samples.map((s) => [s.trajectory.id, s.advantage])) };
}

async function rollOut(stage: Stage, config: GrpoConfig, step: number, hooks: StepHooks): Promise<Rollouts> {
  const { train_batch_size, n, seed } = config;
  const tasks = await trainingTasks(stage, config, step);
  const total = tasks.length * n;
  let done = 0;
  hooks.onPhase?.('rollout', 0, total);
  return collectRollouts(stage, {
    tasks,
    n,
    limits: config,
    sampling: config,
    seed,
    firstStream: step * train_batch_size * n,
    rules: departures(config.conversation_rules),
    label: `${step}`,
    signal: hooks.signal,
    onDone: (trajectory) => {
      hooks.onPhase?.('rollout', ++done, total);
      hooks.onRollout?.(trajectory);
    },
  });
}

/** Cut at a number of tokens, so that its last turn is no whole one. */
const isCut = ({ termination }: Trajectory) => termination === 'turn_length' || termination === 'context_full';

function prepareSamples({ groups }: Rollouts, config: GrpoConfig): Sample[] {
  return groups.flatMap((group) => {
    const advantages = groupAdvantages(group.map((t) => t.reward ?? 0), config.norm_adv_by_std_in_grpo);
    return group.map((trajectory, i) => {
      const { tokens, lossMask, logprobs } = flatten(trajectory);
      return { trajectory, advantage: advantages[i]!, tokens, lossMask, oldLogprobs: logprobs, refLogprobs: logprobs };
    });
  });
}

/** One optimiser step per `ppo_mini_batch_size` tasks, `ppo_epochs` times over the batch. */
async function updatePolicy(learner: Learner, config: GrpoConfig, step: number, samples: Sample[], hooks: StepHooks): Promise<Record<string, number>> {
  const loss = grpoLoss(config);
  const meter = new UpdateMeter();
  const batches = miniBatches(samples, config);
  const updates = batches.length * config.ppo_epochs;
  const perStep = (config.train_batch_size / config.ppo_mini_batch_size) * config.ppo_epochs;
  let lr = learningRate(config.lr, config.lr_scheduler_type, (step - 1) * perStep, config.total_training_steps * perStep, config.lr_warmup_steps);
  let mismatch: Record<string, number> = {};
  for (let update = 0; update < updates; update++) {
    hooks.signal?.throwIfAborted();
    hooks.onPhase?.('update', update, updates);
    const batch = batches[update % batches.length]!;
    const weights = tokenWeights(batch.map((s) => sum(Array.from(s.lossMask), Number)), config.loss_agg_mode);
    const sequences: TrainSequence[] = batch.map((s, i) => ({ tokens: s.tokens, lossMask: s.lossMask, weight: weights[i]!, inputs: [s.advantage, s.oldLogprobs, s.refLogprobs] }));
    const { logprobs, entropies } = await learner.accumulate(sequences, loss, { temperature: config.temperature || 1, signal: hooks.signal });
    lr = learningRate(config.lr, config.lr_scheduler_type, (step - 1) * perStep + update, config.total_training_steps * perStep, config.lr_warmup_steps);
    const { gradNorm } = await learner.step({ lr, beta1: config.beta1, beta2: config.beta2, eps: config.adam_eps, weight_decay: config.weight_decay, grad_clip: config.grad_clip });
    if (!Number.isFinite(gradNorm)) throw new Error(`the gradient norm of step ${step} is ${gradNorm}: the update was not applied; lower lr (now ${lr})`);
    meter.update(gradNorm);
    batch.forEach((sample, i) => meterSample(meter, sample, logprobs[i]!, entropies[i]!, config));
    if (update === 0) mismatch = samplerMismatch(batch.flatMap((s) => masked(s.oldLogprobs, s.lossMask)), batch.flatMap((s, i) => masked(logprobs[i]!, s.lossMask)));
    if (update < batches.length) batch.forEach((sample, i) => annotateSample(sample, logprobs[i]!, entropies[i]!, config));
  }
  return { 'actor/lr': lr, ...meter.metrics(config.use_kl_loss ? config.kl_loss_coef : 0), ...mismatch };
}

/** Splits by task, so that a group is never torn apart. */
function miniBatches(samples: Sample[], config: GrpoConfig): Sample[][] {
  const groups = [...new Set(samples.map((s) => s.trajectory.group))];
  const batches: Sample[][] = [];
  for (let from = 0; from < groups.length; from += config.ppo_mini_batch_size) {
    const chosen = new Set(groups.slice(from, from + config.ppo_mini_batch_size));
    batches.push(samples.filter((s) => chosen.has(s.trajectory.group)));
  }
  return batches;
}

function meterSample(meter: UpdateMeter, sample: Sample, logprobs: Float32Array, entropies: Float32Array, config: GrpoConfig): void {
  for (let t = 0; t < sample.tokens.length; t++) {
    if (!sample.lossMask[t]) continue;
    const parts = grpoTokenLoss(logprobs[t]!, sample.advantage, sample.oldLogprobs[t]!, sample.refLogprobs[t]!, config);
    meter.add(parts, entropies[t]!, logprobs[t]! - sample.oldLogprobs[t]!);
  }
}

/** What the update knew of each token, for the transcript. */
function annotateSample(sample: Sample, logprobs: Float32Array, entropies: Float32Array, config: GrpoConfig): void {
  onMask(sample, 'advantage', () => sample.advantage);
  if (config.use_kl_loss) onMask(sample, 'ref_logprobs', (t) => sample.refLogprobs[t]!);
  onMask(sample, 'entropy', (t) => entropies[t]!);
  onMask(sample, 'ratio', (t) => Math.exp(logprobs[t]! - sample.oldLogprobs[t]!));
}

function spreadAdvantages(samples: readonly Sample[]): Record<string, number> {
  if (samples.length === 0) return {};
  const values = samples.map((s) => s.advantage);
  return { 'critic/advantages/mean': sum(values, Number) / values.length, 'critic/advantages/max': Math.max(...values), 'critic/advantages/min': Math.min(...values) };
}

const masked = (values: ArrayLike<number>, mask: ArrayLike<number>) => Array.from(values).filter((_, t) => mask[t] === 1);
const sum = <T>(items: readonly T[], value: (item: T) => number) => items.reduce((total, item) => total + value(item), 0);

/** verl's timing_s/*: seconds between laps; laps of one name add up. */
class Stopwatch {
  #start = performance.now();
  #last = this.#start;
  readonly #laps: Record<string, number> = {};

  lap(name: string): void {
    const now = performance.now();
    this.#laps[`timing_s/${name}`] = (this.#laps[`timing_s/${name}`] ?? 0) + (now - this.#last) / 1000;
    this.#last = now;
  }
  /** What is waited for is no work. */
  async rest(until: (() => Promise<void>) | undefined): Promise<void> {
    const from = performance.now();
    await until?.();
    const rested = performance.now() - from;
    this.#start += rested;
    this.#last += rested;
  }
  total(): number {
    return (performance.now() - this.#start) / 1000;
  }
  metrics(): Record<string, number> {
    return { ...this.#laps, 'timing_s/step': this.total() };
  }
}
