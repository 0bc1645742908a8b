/**
 * @file One GRPO step (MUA-RL, arXiv 2508.18669 §3; DeepSeekMath, arXiv 2402.03300): play groups of rollouts with the
 * simulated user and the real tools, score them, turn rewards into group advantages, and update the policy on the sampled
 * tokens.
 *
 * `decision-sheet.ts` lists the differences from MUA-RL's code. The old log-probs are those that the sampler computed, with
 * the same weights and kernels as the trainer. `training/rollout_probs_diff` measures how far the trainer's log-probs differ.
 */
import type { Rollouts, Stage } from '../agent/rollouts.ts';
import { flatten } from '../agent/trajectory.ts';
import { totalReward } from '../base/total-reward.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { Learner, TrainSequence } from '../engine/types.ts';
import { type Outcome, estimateAdvantages, isTurnLevel, meanAdvantage, tokenAdvantages, tokenWeights } from './advantages.ts';
import { grpoLoss, grpoTokenLoss } from './grpo-loss.ts';
import { inspectGroup, keptGroup, onMask } from './inspect.ts';
import { samplerMismatch, UpdateMeter } from './metrics.ts';
import { overlongReward } from './overlong.ts';
import { sequenceOldLogprobs } from './policy-loss.ts';
import { optimizerStep } from './optimizer-step.ts';
import { learningRate } from './schedule.ts';
import { chooseGroups, isMixed, sampleStep, type StepHooks } from './step-batch.ts';
import { sampledMetrics, type StepResult, Stopwatch, sum } from './step-result.ts';
import { turnsOf } from './turn-rewards.ts';

/** A rollout that was prepared for the update. */
interface Sample {
  trajectory: Trajectory;
  /** The advantage at each token. */
  advantages: ArrayLike<number>;
  /** Mean of the advantages over the sampled tokens. */
  advantage: number;
  /** Whether the update trains on this rollout. If false, its tokens still count when the loss is averaged. */
  trained: boolean;
  tokens: ArrayLike<number>;
  lossMask: ArrayLike<number>;
  oldLogprobs: ArrayLike<number>;
  refLogprobs: ArrayLike<number>;
}

/** Runs step `step` (from 1). Its randomness depends only on the settings and `step`. */
export async function grpoStep(
  stage: Stage,
  learner: Learner,
  config: GrpoConfig,
  step: number,
  hooks: StepHooks = {},
): Promise<StepResult> {
  const clock = new Stopwatch();
  const rollouts = await sampleStep(stage, config, step, hooks);
  clock.lap('gen');
  await clock.rest(hooks.gate);

  const groups = prepareSamples(rollouts, config);
  const samples = groups.flat();
  const chosen = config.filter_groups ? new Set(chooseGroups(rollouts.groups, config.train_batch_size, config)) : null;
  const batch = groups.filter((_, g) => chosen?.has(rollouts.groups[g]!) ?? true);
  const trained = batch.flat().filter((sample) => sample.trained);
  if (config.use_kl_loss && trained.length > 0) {
    hooks.onPhase?.('score', 0, trained.length);
    const { logprobs } = await learner.score(
      trained.map((s) => ({ ...s, weight: 1 })),
      { weights: 'reference', temperature: config.temperature || 1, signal: hooks.signal },
    );
    trained.forEach((sample, i) => (sample.refLogprobs = logprobs[i]!));
  }
  clock.lap('ref');
  await clock.rest(hooks.gate);
  const kept = config.inspect ? samples.filter((s) => s.trajectory.group === keptGroup(step)) : [];
  const inspectUpdate = await inspectGroup(learner, kept, config, { trained, signal: hooks.signal });
  if (config.inspect) clock.lap('inspect');

  const update = await updatePolicy(learner, config, step, batch, hooks);
  clock.lap('update_actor');
  await inspectUpdate();
  if (config.inspect) clock.lap('inspect');

  return {
    metrics: {
      ...sampledMetrics(rollouts, step, clock),
      ...spreadAdvantages(samples),
      ...update,
      ...(config['overlong_buffer.enable'] && {
        'critic/overlong_reward/mean': sum(rollouts.groups.flat(), (t) => lengthReward(t, config)) / Math.max(1, samples.length),
      }),
      'actor/trained_token_ratio': sum(trained, sampledTokens) / Math.max(1, sum(samples, sampledTokens)),
    },
    trajectories: [...rollouts.groups.flat(), ...rollouts.dropped],
    advantages: new Map(samples.map((s) => [s.trajectory.id, s.advantage])),
  };
}

/** Whether a token limit cut the episode, so that its last turn is incomplete. */
const isCut = ({ termination }: Trajectory) => termination === 'turn_length' || termination === 'context_full';

const lengthReward = (trajectory: Trajectory, config: GrpoConfig) => overlongReward(flatten(trajectory).tokens.length, config);

/** The values of a rollout from which its advantage is computed. */
export const outcomeOf = (trajectory: Trajectory, config: GrpoConfig): Outcome => ({
  reward: totalReward(trajectory) + lengthReward(trajectory, config),
  length: sampledTokens(flatten(trajectory)),
  ...(isTurnLevel(config) && { turns: turnsOf(trajectory).map((turn) => ({ ...turn, reward: config['reward.turn'] * turn.reward })) }),
});

/** Makes the samples of each group, in the order of the groups. */
function prepareSamples({ groups }: Rollouts, config: GrpoConfig): Sample[][] {
  const estimates = estimateAdvantages(
    groups.map((group) => group.map((t) => outcomeOf(t, config))),
    config,
  );
  return groups.map((group, g) => {
    // If only one rollout of a group is left, it cannot be compared with others.
    const useful = group.length > 1 && (!config.filter_groups || isMixed(group, config));
    return group.map((trajectory, i) => {
      const { tokens, lossMask, logprobs } = flatten(trajectory);
      const trained = useful && !(config.mask_truncated && isCut(trajectory));
      const advantages = tokenAdvantages(estimates[g]![i]!, lossMask);
      const advantage = meanAdvantage(estimates[g]![i]!);
      const sample: Sample = { trajectory, advantages, advantage, trained, tokens, lossMask, oldLogprobs: logprobs, refLogprobs: logprobs };
      // The page takes a missing advantage of a token for that of the rollout. Here each turn has its own.
      if (isTurnLevel(config)) onMask(sample, 'advantage', (t) => advantages[t]!);
      return sample;
    });
  });
}

/** The sequences of a mini-batch that the update trains on. Their weights are computed over the whole mini-batch. */
function weighSamples(miniBatch: readonly Sample[], config: GrpoConfig): { sample: Sample; weight: number }[] {
  const weights = tokenWeights(miniBatch.map(sampledTokens), config);
  return miniBatch.map((sample, i) => ({ sample, weight: weights[i]! })).filter(({ sample }) => sample.trained);
}

/**
 * Makes one optimizer step for each mini-batch of `ppo_mini_batch_size` groups, and repeats this `ppo_epochs` times. If the
 * update trains on no sequence of a mini-batch, that mini-batch makes no optimizer step.
 */
async function updatePolicy(
  learner: Learner,
  config: GrpoConfig,
  step: number,
  batch: readonly Sample[][],
  hooks: StepHooks,
): Promise<Record<string, number>> {
  const loss = grpoLoss(config);
  const meter = new UpdateMeter();
  const miniBatches = cut(batch, config.ppo_mini_batch_size).map((groups) => weighSamples(groups.flat(), config));
  const updates = miniBatches.length * config.ppo_epochs;
  // As in verl, all updates of a step use the same learning rate (`fsdp_workers.py`: `update_actor` calls `actor_lr_scheduler.step()` once;
  // `engine_workers.py`: `train_mini_batch` does so after the last mini-batch).
  const lr = learningRate(config.lr, config.lr_scheduler_type, step - 1, config.total_training_steps, config.lr_warmup_steps);
  let mismatch: Record<string, number> | undefined;
  for (let update = 0; update < updates; update++) {
    hooks.signal?.throwIfAborted();
    hooks.onPhase?.('update', update, updates);
    const weighed = miniBatches[update % miniBatches.length]!;
    if (weighed.length === 0) continue;
    // Before the first optimizer step all probability ratios are 1, so GSPO can use the sampler's log-probs.
    const oldLogprobs = await ratioBase(learner, weighed, config, meter.updates > 0, hooks.signal);
    const sequences = weighed.map(({ sample: { tokens, lossMask, advantages, refLogprobs }, weight }, i): TrainSequence => ({
      tokens,
      lossMask,
      weight,
      inputs: [advantages, oldLogprobs[i]!, refLogprobs],
    }));
    const { logprobs, entropies } = await learner.accumulate(sequences, loss, {
      temperature: config.temperature || 1,
      signal: hooks.signal,
    });
    const gradNorm = await optimizerStep(learner, config, lr, step);
    meter.update(gradNorm);
    weighed.forEach(({ sample }, i) => meterSample(meter, sample, logprobs[i]!, oldLogprobs[i]!, entropies[i]!, config));
    mismatch ??= samplerMismatch(
      weighed.flatMap(({ sample }) => masked(sample.oldLogprobs, sample.lossMask)),
      weighed.flatMap(({ sample }, i) => masked(logprobs[i]!, sample.lossMask)),
    );
    if (update < miniBatches.length) weighed.forEach(({ sample }, i) => annotateSample(sample, logprobs[i]!, entropies[i]!, config));
  }
  return { 'actor/lr': lr, ...meter.metrics(config.kl_loss_coef), ...mismatch };
}

/** Cuts a list into pieces of `size` items. The last piece may be shorter. */
const cut = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

/**
 * The old log-probs for the loss. They are usually the sampler's. For `gspo` after an optimizer step, they are computed such
 * that the ratio of each token equals the ratio of its sequence.
 */
async function ratioBase(
  learner: Learner,
  weighed: readonly { sample: Sample }[],
  config: GrpoConfig,
  changed: boolean,
  signal?: AbortSignal,
): Promise<ArrayLike<number>[]> {
  const samples = weighed.map(({ sample }) => sample);
  if (config.loss_mode !== 'gspo' || !changed) return samples.map(({ oldLogprobs }) => oldLogprobs);
  const { logprobs } = await learner.score(
    samples.map((s) => ({ ...s, weight: 1 })),
    { temperature: config.temperature || 1, signal },
  );
  return samples.map(({ oldLogprobs, lossMask }, i) => sequenceOldLogprobs(logprobs[i]!, oldLogprobs, lossMask));
}

function meterSample(
  meter: UpdateMeter,
  sample: Sample,
  logprobs: Float32Array,
  oldLogprobs: ArrayLike<number>,
  entropies: Float32Array,
  config: GrpoConfig,
): void {
  for (let t = 0; t < sample.tokens.length; t++) {
    if (!sample.lossMask[t]) continue;
    const parts = grpoTokenLoss(logprobs[t]!, sample.advantages[t]!, oldLogprobs[t]!, sample.refLogprobs[t]!, config);
    meter.add(parts, entropies[t]!, logprobs[t]! - sample.oldLogprobs[t]!);
  }
}

/** Stores the per-token numbers of the update in the trajectory, for the transcript. */
function annotateSample(sample: Sample, logprobs: Float32Array, entropies: Float32Array, config: GrpoConfig): void {
  onMask(sample, 'advantage', (t) => sample.advantages[t]!);
  if (config.use_kl_loss) onMask(sample, 'ref_logprobs', (t) => sample.refLogprobs[t]!);
  onMask(sample, 'entropy', (t) => entropies[t]!);
  onMask(sample, 'ratio', (t) => Math.exp(logprobs[t]! - sample.oldLogprobs[t]!));
}

function spreadAdvantages(samples: readonly Sample[]): Record<string, number> {
  if (samples.length === 0) return {};
  const values = samples.map((s) => s.advantage);
  return {
    'critic/advantages/mean': sum(values, Number) / values.length,
    'critic/advantages/max': Math.max(...values),
    'critic/advantages/min': Math.min(...values),
  };
}

const sampledTokens = ({ lossMask }: { lossMask: ArrayLike<number> }) => sum(Array.from(lossMask), Number);
const masked = (values: ArrayLike<number>, mask: ArrayLike<number>) => Array.from(values).filter((_, t) => mask[t] === 1);
