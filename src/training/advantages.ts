/** @file Group-relative advantages of GRPO (DeepSeekMath §4.1; verl `compute_grpo_outcome_advantage`). */

/**
 * A = (R − mean) / (std + 1e-6) within one group; std is the sample standard deviation (n − 1).
 * A group of one has mean 0 and std 1, as in verl. `normalizeByStd` false gives Dr.GRPO's R − mean.
 */
export function groupAdvantages(rewards: readonly number[], normalizeByStd = true): number[] {
  const n = rewards.length;
  if (n === 0) return [];
  const mean = n === 1 ? 0 : rewards.reduce((sum, r) => sum + r, 0) / n;
  const std = n === 1 ? 1 : Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (n - 1));
  return rewards.map((r) => (normalizeByStd ? (r - mean) / (std + 1e-6) : r - mean));
}

/**
 * Weight of every masked token in the loss, by verl's `loss_agg_mode`; `counts` are the masked tokens of each sequence.
 * `token-mean` divides by the token count of the whole batch, not of a micro-batch.
 */
export function tokenWeights(counts: readonly number[], mode: 'token-mean' | 'seq-mean-token-sum' | 'seq-mean-token-mean'): number[] {
  const total = counts.reduce((sum, n) => sum + n, 0);
  return counts.map((n) => {
    if (mode === 'token-mean') return 1 / Math.max(1, total);
    return mode === 'seq-mean-token-sum' ? 1 / counts.length : 1 / (counts.length * Math.max(1, n));
  });
}
