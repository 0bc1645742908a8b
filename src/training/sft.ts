/** @file Supervised fine-tuning on conversations: the cold start before GRPO. Only the assistant's tokens are in the loss. */
import type { Learner, TrainSequence } from '../engine/types.ts';
import { hash32, permutation } from '../base/random.ts';
import { sftLoss } from './grpo-loss.ts';
import { optimizerStep } from './optimizer-step.ts';
import { learningRate } from './schedule.ts';
import type { StepHooks } from './step-batch.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { OptimiserConfig, SftConfig } from './settings/index.ts';

export interface SftExample {
  tokens: ArrayLike<number>;
  lossMask: ArrayLike<number>;
}

export interface SftStep {
  /** Steps are counted from 1. */
  step: number;
  totalSteps: number;
  /** Mean negative log-likelihood of the batch's assistant tokens, in nats. */
  loss: number;
  lr: number;
  gradNorm: number;
  tokens: number;
}

/** The number of epochs if the number of steps is not set, as in MUA-RL's cold start. */
const EPOCHS = 2;

/** The number of steps on so many examples. */
export const stepsOf = (examples: number, { total_training_steps, train_batch_size }: SftConfig): number =>
  total_training_steps || EPOCHS * Math.ceil(examples / train_batch_size);

/**
 * Trains on one batch in each step and yields after every update. Each epoch has its own seeded order. The last batch of an
 * epoch may be smaller; its loss is the mean over its tokens. The first `doneSteps` steps are skipped.
 * @throws if there are no examples or a gradient is not finite
 */
export async function* trainSft(
  learner: Learner,
  examples: readonly SftExample[],
  config: SftConfig,
  doneSteps = 0,
): AsyncGenerator<SftStep> {
  for (const { step, totalSteps, lr, indices } of batches(examples.length, config, doneSteps)) {
    const batch = indices.map((i) => examples[i]!);
    const { loss, gradNorm } = await sftUpdate(learner, batch, config, { step, lr });
    yield { step, totalSteps, loss, lr, gradNorm, tokens: batch.reduce((total, { tokens }) => total + tokens.length, 0) };
  }
}

/** The batches of the steps after `doneSteps`, as indices of examples. @throws if there are no examples */
export function* batches(
  examples: number,
  config: SftConfig,
  doneSteps = 0,
): Generator<{ step: number; totalSteps: number; lr: number; indices: number[] }> {
  if (examples === 0) throw new Error('no conversations to train on');
  const size = config.train_batch_size;
  const perEpoch = Math.ceil(examples / size);
  const totalSteps = stepsOf(examples, config);
  for (let done = doneSteps; done < totalSteps; done++) {
    const order = permutation(examples, config.seed, Math.floor(done / perEpoch));
    const at = (done % perEpoch) * size;
    const lr = learningRate(config.lr, config.lr_scheduler_type, done, totalSteps, config.lr_warmup_steps);
    yield { step: done + 1, totalSteps, lr, indices: order.slice(at, at + size) };
  }
}

interface UpdateOptions {
  /** The step that the error message names. */
  step: number;
  lr: number;
  temperature?: number;
  signal?: AbortSignal;
}

/**
 * Makes one optimizer update. `loss` and `entropy` are means over the batch's `count` tokens in the loss mask, in nats, before
 * the update.
 * @throws if the gradient is not finite
 */
async function sftUpdate(
  learner: Learner,
  batch: readonly SftExample[],
  config: OptimiserConfig,
  { step, lr, temperature = 1, signal }: UpdateOptions,
): Promise<{ loss: number; entropy: number; count: number; gradNorm: number }> {
  const count = batch.reduce((total, example) => total + maskedTokens(example), 0);
  const sequences: TrainSequence[] = batch.map(({ tokens, lossMask }) => ({ tokens, lossMask, weight: 1 / Math.max(1, count) }));
  const { logprobs, entropies } = await learner.accumulate(sequences, sftLoss, { temperature, signal });
  const gradNorm = await optimizerStep(learner, config, lr, step);
  const mean = (rows: readonly Float32Array[]) =>
    rows.reduce((total, row, i) => total + row.reduce((s, value, t) => (batch[i]!.lossMask[t] ? s + value : s), 0), 0) / Math.max(1, count);
  return { loss: -mean(logprobs), entropy: mean(entropies), count, gradNorm };
}

/**
 * Makes the updates of one step of a run: `epochs` passes over `examples` in mini-batches of `sft_mini_batch_size`. Each pass
 * has its own seeded order. All updates of a step use the same learning rate, because steps differ in their number of updates.
 * Without examples there is no update. The metrics are means over tokens, but `actor/grad_norm` is the mean over updates.
 */
export async function sftPasses(
  learner: Learner,
  examples: readonly SftExample[],
  config: GrpoConfig,
  step: number,
  { epochs = 1, temperature, signal, onPhase }: { epochs?: number; temperature?: number } & Pick<StepHooks, 'signal' | 'onPhase'>,
): Promise<Record<string, number>> {
  const lr = learningRate(config.lr, config.lr_scheduler_type, step - 1, config.total_training_steps, config.lr_warmup_steps);
  const size = config.sft_mini_batch_size;
  const perEpoch = Math.ceil(examples.length / size);
  const sums = { tokens: 0, loss: 0, entropy: 0, gradNorm: 0 };
  for (let update = 0; update < epochs * perEpoch; update++) {
    signal?.throwIfAborted();
    onPhase?.('update', update, epochs * perEpoch);
    const order = permutation(examples.length, config.seed, hash32(step, Math.floor(update / perEpoch)));
    const at = (update % perEpoch) * size;
    const batch = order.slice(at, at + size).map((i) => examples[i]!);
    const { loss, entropy, count, gradNorm } = await sftUpdate(learner, batch, config, { step, lr, temperature, signal });
    sums.tokens += count;
    sums.loss += loss * count;
    sums.entropy += entropy * count;
    sums.gradNorm += gradNorm;
  }
  if (sums.tokens === 0) return { 'actor/lr': lr };
  return {
    'actor/lr': lr,
    'train/loss': sums.loss / sums.tokens,
    'actor/entropy': sums.entropy / sums.tokens,
    'actor/grad_norm': sums.gradNorm / (epochs * perEpoch),
  };
}

/** The number of tokens in the loss. The first token is not counted, as nothing predicts it. */
export function maskedTokens({ lossMask }: SftExample): number {
  let count = 0;
  for (let t = 1; t < lossMask.length; t++) count += lossMask[t] ? 1 : 0;
  return count;
}
