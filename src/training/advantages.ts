/** @file GRPO's group-relative advantages (DeepSeekMath §4.1; verl `compute_grpo_outcome_advantage`) and token weights. */
import type { GrpoConfig } from '../records/run.ts';

/**
 * A = (R − mean) / (std + 1e-6) within one group; std is the sample standard deviation (n − 1).
 * `normalizeByStd` false gives Dr.GRPO's R − mean. A group of one has nothing to compare with: its advantage is 0
 * (verl takes mean 0 and std 1, so that the advantage is the reward itself).
 */
export function groupAdvantages(rewards: readonly number[], normalizeByStd = true): number[] {
  const n = rewards.length;
  if (n < 2) return rewards.map(() => 0);
  const mean = rewards.reduce((sum, r) => sum + r, 0) / n;
  const std = Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (n - 1));
  return rewards.map((r) => (normalizeByStd ? (r - mean) / (std + 1e-6) : r - mean));
}

/**
 * Weight of every masked token in the loss, by verl's `loss_agg_mode`. `counts`: the masked tokens of each sequence of a
 * mini-batch, in order, including sequences that are left out of the update. The loss is averaged over `microBatch`
 * consecutive sequences, and then over these micro-batches, as in MUA-RL's code. 0 averages over the mini-batch at once.
 */
export function tokenWeights(counts: readonly number[], mode: GrpoConfig['loss_agg_mode'], microBatch = 0): number[] {
  const size = microBatch || Math.max(1, counts.length);
  const microBatches = Math.ceil(counts.length / size);
  return counts.map((n, i) => {
    const own = counts.slice(i - (i % size), i - (i % size) + size);
    const total = own.reduce((sum, count) => sum + count, 0);
    const divisor = {
      'token-mean': Math.max(1, total),
      'seq-mean-token-sum': own.length,
      'seq-mean-token-mean': own.length * Math.max(1, n),
    }[mode];
    return 1 / (microBatches * divisor);
  });
}
