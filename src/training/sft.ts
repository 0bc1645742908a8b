/** @file Supervised fine-tuning on conversations: the cold start before GRPO. Loss on the assistant's tokens only. */
import type { Learner, TrainSequence } from '../engine/types.ts';
import { permutation } from '../random.ts';
import { sftLoss } from './grpo-loss.ts';
import { learningRate } from './schedule.ts';
import type { SftConfig } from './types.ts';

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

/** Steps of a run: as configured, or two passes over the data (MUA-RL's cold start) when 0. */
function sftSteps(config: SftConfig, examples: number): number {
  return config.total_training_steps || Math.ceil((2 * examples) / config.train_batch_size);
}

/** Trains step by step, each batch drawn from a seeded permutation of the data; yields after every update. */
export async function* trainSft(learner: Learner, examples: readonly SftExample[], config: SftConfig, signal?: AbortSignal): AsyncGenerator<SftStep> {
  if (examples.length === 0) throw new Error('no conversations to train on');
  const totalSteps = sftSteps(config, examples.length);
  const size = Math.min(config.train_batch_size, examples.length);
  const perEpoch = Math.floor(examples.length / size);
  for (let step = 0; step < totalSteps; step++) {
    signal?.throwIfAborted();
    const order = permutation(examples.length, config.seed, Math.floor(step / perEpoch));
    const at = (step % perEpoch) * size;
    const batch = order.slice(at, at + size).map((i) => examples[i]!);
    const count = batch.reduce((total, example) => total + maskedTokens(example), 0);
    const sequences: TrainSequence[] = batch.map(({ tokens, lossMask }) => ({ tokens, lossMask, weight: 1 / Math.max(1, count) }));
    const { logprobs } = await learner.accumulate(sequences, sftLoss, { signal });
    const lr = learningRate(config.lr, config.lr_scheduler_type, step, totalSteps, config.lr_warmup_steps);
    const { gradNorm } = await learner.step({ lr, beta1: config.beta1, beta2: config.beta2, eps: config.adam_eps, weight_decay: config.weight_decay, grad_clip: config.grad_clip });
    if (!Number.isFinite(gradNorm)) throw new Error(`the gradient norm of step ${step + 1} is ${gradNorm}: the update was not applied; lower lr (now ${lr})`);
    const loss = -logprobs.reduce((total, row, i) => total + row.reduce((s, value, t) => (batch[i]!.lossMask[t] ? s + value : s), 0), 0) / Math.max(1, count);
    yield { step: step + 1, totalSteps, loss, lr, gradNorm, tokens: batch.reduce((total, { tokens }) => total + tokens.length, 0) };
  }
}

function maskedTokens({ lossMask }: SftExample): number {
  let count = 0;
  for (let t = 1; t < lossMask.length; t++) count += lossMask[t] ? 1 : 0;
  return count;
}
