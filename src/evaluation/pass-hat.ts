/** @file pass^k: the probability that k independent trials of a task all succeed (tau-bench, arXiv 2406.12045 §3). */
import type { Interval } from '../records/evaluation.ts';
import { clustersOf, shareInterval } from './intervals.ts';

/** C(successes, k) / C(trials, k), the unbiased estimate of pass^k for one task. @throws RangeError if k is not from 1 to `trials` */
export function passHat(successes: number, trials: number, k: number): number {
  if (!(k >= 1 && k <= trials)) throw new RangeError(`pass^k: k is ${k}, expected 1 to ${trials} (the number of trials)`);
  let value = 1;
  for (let i = 0; i < k; i++) value *= Math.max(0, successes - i) / (trials - i);
  return value;
}

/**
 * The mean of pass^k over tasks, with the 95 % interval of `shareInterval` over the tasks' customers. Tasks with fewer than k scored
 * trials are ignored. Null if no task is left.
 */
export function passHatInterval(
  results: readonly { customer: string; successes: number; trials: number }[],
  k: number,
): (Interval & { k: number }) | null {
  const played = results.filter(({ trials }) => trials >= k);
  const clusters = clustersOf(
    played,
    ({ customer }) => customer,
    ({ successes, trials }) => passHat(successes, trials, k),
  );
  const interval = shareInterval(clusters);
  return interval && { k, ...interval };
}

/** The mean of a list. 0 for an empty list. */
export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, v) => sum + v, 0) / values.length;
