/** @file Learning-rate schedules, with the names of Hugging Face's `lr_scheduler_type`. */

/** The learning rate of step `step` (from 0) of `total` steps. It rises linearly over the first `warmup` steps. A step can make several updates. */
export function learningRate(lr: number, type: 'constant' | 'linear' | 'cosine', step: number, total: number, warmup: number): number {
  if (step < warmup) return (lr * (step + 1)) / (warmup + 1);
  if (type === 'constant' || total <= warmup) return lr;
  const progress = Math.min(1, (step - warmup) / (total - warmup));
  return type === 'linear' ? lr * (1 - progress) : lr * 0.5 * (1 + Math.cos(Math.PI * progress));
}
