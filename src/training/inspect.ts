/**
 * @file Extra numbers for the transcripts of one group per step, which are stored permanently: the most likely alternatives of
 * each sampled token, how much the update changed the token's probability, and the most likely token after the update. This
 * code only scores tokens and never changes the training.
 */
import { annotate } from '../agent/trajectory.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { Learner, Scores } from '../engine/types.ts';

/** Number of alternatives that are stored for each token. */
export const TOP_LOGPROBS = 5;
/** The group of a step whose trajectories are stored permanently. */
export const keptGroup = (step: number): string => `${step}-0`;

/** A rollout whose tokens are scored. */
export interface Inspected {
  trajectory: Trajectory;
  tokens: ArrayLike<number>;
  lossMask: ArrayLike<number>;
  oldLogprobs: ArrayLike<number>;
}

/**
 * Scores `samples` with the weights before the update and stores the numbers in their trajectories. Call the returned function
 * after the update: it adds the change of probability and the most likely token. `trained` are the samples whose reference
 * log-probs are known, because the update needed them.
 */
export async function inspectGroup(
  learner: Learner,
  samples: readonly Inspected[],
  config: GrpoConfig,
  { trained, signal }: { trained: readonly Inspected[]; signal?: AbortSignal },
): Promise<() => Promise<void>> {
  if (samples.length === 0) return async () => {};
  const sequences = samples.map(({ tokens, lossMask }) => ({ tokens, lossMask, weight: 1 }));
  const options = { temperature: config.temperature || 1, signal };
  const before = await learner.score(sequences, { ...options, topLogprobs: TOP_LOGPROBS });
  samples.forEach((sample, i) => annotateBefore(sample, before, i));
  const unscored = config.use_kl_loss
    ? samples.flatMap((sample, i) => (trained.includes(sample) ? [] : [{ sample, sequence: sequences[i]! }]))
    : [];
  if (unscored.length > 0) {
    const reference = await learner.score(
      unscored.map(({ sequence }) => sequence),
      { ...options, weights: 'reference' },
    );
    unscored.forEach(({ sample }, i) => onMask(sample, 'ref_logprobs', (t) => reference.logprobs[i]![t]!));
  }
  return async () => {
    const after = await learner.score(sequences, { ...options, topLogprobs: 1 });
    samples.forEach((sample, i) => {
      const top = after.top![i]!;
      onMask(sample, 'delta_p', (t) => Math.exp(after.logprobs[i]![t]!) - Math.exp(before.logprobs[i]![t]!));
      onMask(sample, 'after_top_1_id', (t) => top.ids[t]!);
      onMask(sample, 'after_top_1_logprob', (t) => top.logprobs[t]!);
    });
  };
}

function annotateBefore(sample: Inspected, before: Scores, i: number): void {
  const top = before.top![i]!;
  onMask(sample, 'entropy', (t) => before.entropies[i]![t]!);
  onMask(sample, 'ratio', (t) => Math.exp(before.logprobs[i]![t]! - sample.oldLogprobs[t]!));
  for (let n = 0; n < top.k; n++) {
    onMask(sample, `top_${n + 1}_id`, (t) => top.ids[t * top.k + n]!);
    onMask(sample, `top_${n + 1}_logprob`, (t) => top.logprobs[t * top.k + n]!);
  }
}

/** Stores one number for each sampled token in the messages of a trajectory. */
export function onMask(
  { trajectory, tokens, lossMask }: Pick<Inspected, 'trajectory' | 'tokens' | 'lossMask'>,
  name: string,
  value: (t: number) => number,
): void {
  annotate(
    trajectory,
    name,
    Array.from(tokens, (_, t) => (lossMask[t] ? value(t) : null)),
  );
}
