/** @file pass^k: the chance that k independent trials of a task all succeed (tau-bench, arXiv 2406.12045 §3). */
import { hash32 } from '../random.ts';

/** C(successes, k) / C(trials, k), the unbiased estimate for one task. @throws RangeError unless 1 ≤ k ≤ trials. */
export function passHat(successes: number, trials: number, k: number): number {
  if (!(k >= 1 && k <= trials)) throw new RangeError(`pass^k: k is ${k}, expected 1 to ${trials} (the number of trials)`);
  let value = 1;
  for (let i = 0; i < k; i++) value *= Math.max(0, successes - i) / (trials - i);
  return value;
}

/**
 * Mean pass^k over tasks with a 95 % interval by bootstrap over tasks (2,000 seeded resamples).
 * Tasks with fewer than k scored trials are left out.
 */
export function passHatInterval(results: readonly { successes: number; trials: number }[], k: number): { k: number; value: number; low: number; high: number } {
  const values = results.filter(({ trials }) => trials >= k).map(({ successes, trials }) => passHat(successes, trials, k));
  if (values.length === 0) return { k, value: 0, low: 0, high: 0 };
  const average = (pick: (i: number) => number) => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[pick(i)]!;
    return sum / values.length;
  };
  const resamples = Array.from({ length: 2000 }, (_, sample) => average((i) => hash32(k, sample, i) % values.length)).sort((a, b) => a - b);
  return { k, value: average((i) => i), low: resamples[49]!, high: resamples[1949]! };
}
