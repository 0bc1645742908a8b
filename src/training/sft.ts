/** @file Supervised fine-tuning on conversations: the cold start before GRPO. The loss is on the assistant's tokens only. */
import type { Learner, TrainSequence } from '../engine/types.ts';
import { permutation } from '../base/random.ts';
import { sftLoss } from './grpo-loss.ts';
import { learningRate } from './schedule.ts';
import type { SftConfig } from '../records/run.ts';

export interface SftExample {
  tokens: ArrayLike<number>;
  lossMask: ArrayLike<number>;
}

export interface SftStep {
  /** From 1. */
  step: number;
  totalSteps: number;
  /** Mean negative log-likelihood of the batch's assistant tokens, in nats. */
  loss: number;
  lr: number;
  gradNorm: number;
  tokens: number;
}

/** Epochs of a run whose number of steps is not set, as in MUA-RL's cold start. */
const EPOCHS = 2;

/**
 * Trains on one batch a step and yields after every update. Each epoch has its own seeded order; the last batch of an epoch
 * may be smaller, and its loss is the mean over its own tokens. @throws if there are no examples or a gradient is not finite
 */
export async function* trainSft(
  learner: Learner,
  examples: readonly SftExample[],
  config: SftConfig,
  signal?: AbortSignal,
): AsyncGenerator<SftStep> {
  if (examples.length === 0) throw new Error('no conversations to train on');
  const size = config.train_batch_size;
  const perEpoch = Math.ceil(examples.length / size);
  const totalSteps = config.total_training_steps || EPOCHS * perEpoch;
  for (let step = 0; step < totalSteps; step++) {
    signal?.throwIfAborted();
    const order = permutation(examples.length, config.seed, Math.floor(step / perEpoch));
    const at = (step % perEpoch) * size;
    const batch = order.slice(at, at + size).map((i) => examples[i]!);
    const count = batch.reduce((total, example) => total + maskedTokens(example), 0);
    const sequences: TrainSequence[] = batch.map(({ tokens, lossMask }) => ({ tokens, lossMask, weight: 1 / Math.max(1, count) }));
    const { logprobs } = await learner.accumulate(sequences, sftLoss, { signal });
    const lr = learningRate(config.lr, config.lr_scheduler_type, step, totalSteps, config.lr_warmup_steps);
    const { gradNorm } = await learner.step({
      lr,
      beta1: config.beta1,
      beta2: config.beta2,
      eps: config.adam_eps,
      weight_decay: config.weight_decay,
      decay_all_parameters: config.decay_all_parameters,
      grad_clip: config.grad_clip,
    });
    if (!Number.isFinite(gradNorm))
      throw new Error(`the gradient norm of step ${step + 1} is ${gradNorm}: the update was not applied; lower lr (now ${lr})`);
    const loss =
      -logprobs.reduce((total, row, i) => total + row.reduce((s, value, t) => (batch[i]!.lossMask[t] ? s + value : s), 0), 0) /
      Math.max(1, count);
    yield { step: step + 1, totalSteps, loss, lr, gradNorm, tokens: batch.reduce((total, { tokens }) => total + tokens.length, 0) };
  }
}

function maskedTokens({ lossMask }: SftExample): number {
  let count = 0;
  for (let t = 1; t < lossMask.length; t++) count += lossMask[t] ? 1 : 0;
  return count;
}
