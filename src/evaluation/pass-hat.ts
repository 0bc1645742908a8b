/** @file pass^k: the probability that k independent trials of a task all succeed (tau-bench, arXiv 2406.12045 §3). */
import type { Interval } from '../records/evaluation.ts';
import { hash32 } from '../base/random.ts';

/** C(successes, k) / C(trials, k), the unbiased estimate of pass^k for one task. @throws RangeError if k is not from 1 to `trials` */
export function passHat(successes: number, trials: number, k: number): number {
  if (!(k >= 1 && k <= trials)) throw new RangeError(`pass^k: k is ${k}, expected 1 to ${trials} (the number of trials)`);
  let value = 1;
  for (let i = 0; i < k; i++) value *= Math.max(0, successes - i) / (trials - i);
  return value;
}

/** The mean of pass^k over tasks, with a 95 % bootstrap interval over tasks. Tasks with fewer than k scored trials are ignored. */
export function passHatInterval(results: readonly { successes: number; trials: number }[], k: number): Interval & { k: number } {
  return {
    k,
    ...meanInterval(
      results.filter(({ trials }) => trials >= k).map(({ successes, trials }) => passHat(successes, trials, k)),
      k,
    ),
  };
}

/** The mean of a list. 0 for an empty list. */
export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, v) => sum + v, 0) / values.length;

/**
 * The sum of `count` over groups divided by the sum of `of`, with a 95 % bootstrap interval over groups (2,000 resamples,
 * seeded). Null if all `of` are 0. A resample in which all `of` are 0 has no ratio and is ignored.
 */
export function ratioInterval(groups: readonly { count: number; of: number }[], seed = 0): Interval | null {
  const ratio = (picked: readonly { count: number; of: number }[]) => {
    let [count, of] = [0, 0];
    for (const group of picked) [count, of] = [count + group.count, of + group.of];
    return of === 0 ? null : count / of;
  };
  const value = ratio(groups);
  if (value === null) return null;
  const resamples = Array.from({ length: 2000 }, (_, sample) =>
    ratio(groups.map((_, i) => groups[hash32(seed, sample, i) % groups.length]!)),
  )
    .filter((resample) => resample !== null)
    .sort((a, b) => a - b);
  const at = (share: number) => resamples[Math.floor(share * (resamples.length - 1))]!;
  return { value, low: at(0.025), high: at(0.975) };
}

/** The mean with a 95 % bootstrap interval over the values (2,000 resamples, seeded). For an empty list, all numbers are 0. */
export function meanInterval(values: readonly number[], ...seed: number[]): Interval {
  if (values.length === 0) return { value: 0, low: 0, high: 0 };
  const resamples = Array.from({ length: 2000 }, (_, sample) =>
    mean(values.map((_, i) => values[hash32(...seed, sample, i) % values.length]!)),
  ).sort((a, b) => a - b);
  return { value: mean(values), low: resamples[49]!, high: resamples[1949]! };
}
