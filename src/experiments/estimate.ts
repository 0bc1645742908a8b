/**
 * @file Means over seeds with 95 % intervals that are reliable even for two to five seeds.
 *
 * Method: the seeds are the independent units. Each seed has different held-out tasks, so the spread between the means of the
 * seeds also contains the randomness of the tasks. The interval is Student's t over these means, with n − 1 degrees of
 * freedom. With so few means, their spread can be small by luck. So the interval is never narrower than the interval over
 * tasks (normal, 1.96 standard errors). A single seed has only the interval over its tasks (bootstrap), which does not contain
 * the randomness of the seed.
 *
 * A percentile bootstrap over seeds and tasks is not used: if seeds differ much, its interval for three seeds contains the
 * true value in 79 % of the cases instead of 95 % (tests/unit/experiments/experiment-estimate.test.ts measures this).
 */
import type { Interval } from '../records/evaluation.ts';
import { mean, meanInterval } from '../evaluation/pass-hat.ts';

export interface Estimate extends Interval {
  /** The number of seeds. With one seed, the interval does not contain the randomness of the seed. */
  seeds: number;
}

/** The 97.5 % quantiles of Student's t for 1 to 10 degrees of freedom. */
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const Z = 1.959964;

/**
 * The 97.5 % quantile of Student's t. For 11 or more degrees of freedom it is computed by Cornish and Fisher's expansion, with
 * an error below 0.003.
 */
export function t975(df: number): number {
  if (!Number.isInteger(df) || df < 1) throw new RangeError(`df is ${df}: expected a whole number from 1`);
  return T[df - 1] ?? Z + (Z ** 3 + Z) / (4 * df) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * df ** 2);
}

/** The variance of the mean, estimated as s² / n. 0 for fewer than two values. */
function varianceOfMean(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1) / values.length;
}

/**
 * The mean over seeds of the mean over tasks.
 * @param seeds for each seed, the values of its tasks; seeds without values are ignored
 * @param range the smallest and the largest possible value; the interval is limited to this range
 * @returns null if there are no values
 */
export function overSeedsAndTasks(seeds: readonly (readonly number[])[], range: readonly [number, number]): Estimate | null {
  const measured = seeds.filter((tasks) => tasks.length > 0);
  if (measured.length === 0) return null;
  if (measured.length === 1) return { ...cut(meanInterval(measured[0]!, 1), range), seeds: 1 };
  const ofTasks = Math.sqrt(measured.reduce((sum, tasks) => sum + varianceOfMean(tasks), 0)) / measured.length;
  return around(measured.map(mean), Z * ofTasks, range);
}

/** The mean of one value per seed. A single seed has no interval: both ends equal the value. @returns null if there are no values */
export function overSeeds(
  values: readonly number[],
  range: readonly [number, number] = [Number.NEGATIVE_INFINITY, Infinity],
): Estimate | null {
  return values.length === 0 ? null : around(values, 0, range);
}

function around(means: readonly number[], atLeast: number, range: readonly [number, number]): Estimate {
  const value = mean(means);
  const half = means.length < 2 ? 0 : Math.max(t975(means.length - 1) * Math.sqrt(varianceOfMean(means)), atLeast);
  return { ...cut({ value, low: value - half, high: value + half }, range), seeds: means.length };
}

const cut = ({ value, low, high }: Interval, [min, max]: readonly [number, number]): Interval => ({
  value,
  low: Math.max(min, low),
  high: Math.min(max, high),
});
