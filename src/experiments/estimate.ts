/**
 * @file Means over seeds with 95 % intervals that are reliable even for two to five seeds.
 *
 * Method: the seeds are the independent units. Each seed has its own held-out tasks, so the spread between the means of the
 * seeds also contains the randomness of the tasks. The interval is Student's t over these means, with n − 1 degrees of freedom. The
 * spread of so few means can be small by luck, so the interval also contains the interval over the tasks of all seeds: Wilson's for
 * shares, and the paired one for differences (src/evaluation/intervals.ts). A single seed has only the interval over its tasks,
 * which does not contain the randomness of the seed. Held-out tasks are from different worlds, so each task has a customer of its own.
 *
 * A percentile bootstrap over seeds and tasks is not used: if seeds differ much, its interval for three seeds contains the
 * true value in 79 % of the cases instead of 95 % (tests/unit/experiments/experiment-estimate.test.ts measures this).
 */
import type { Interval } from '../records/evaluation.ts';
import { t975, tTest } from '../base/student-t.ts';
import { type Cluster, meanInterval, meanTest, shareInterval } from '../evaluation/intervals.ts';
import { mean } from '../evaluation/pass-hat.ts';

export interface Estimate extends Interval {
  /** The number of seeds. With one seed, the interval does not contain the randomness of the seed. */
  seeds: number;
}

const ANY = [Number.NEGATIVE_INFINITY, Infinity] as const;
const DIFFERENCE = [-1, 1] as const;

/** For each seed the values of its tasks. Seeds without values are left out. */
type BySeed = readonly (readonly number[])[];

/** The standard error of the mean: s / √n. 0 for one value. */
function standardError(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, values.length - 1) / values.length);
}

const tasksOf = (seeds: BySeed): Cluster[] => seeds.flat().map((sum) => ({ sum, of: 1 }));

/** The mean over seeds of the share of tasks that are 1, from 0 to 1. null without values. */
export const sharesOverSeeds = (seeds: BySeed): Estimate | null => together(seeds, shareInterval(tasksOf(seeds)), [0, 1]);

/** The mean over seeds of the mean difference of tasks, from −1 to 1. null without values. */
export const differencesOverSeeds = (seeds: BySeed): Estimate | null =>
  together(seeds, meanInterval(tasksOf(seeds), DIFFERENCE), DIFFERENCE);

/**
 * The two-sided p-value of “the mean difference is 0”: the larger one of Student's t over the seeds and of `meanTest` over the tasks. It is
 * below 0.05 exactly if the interval of `differencesOverSeeds` is without 0. null for fewer than two seeds.
 */
export function differencesTest(seeds: BySeed): number | null {
  const means = seeds.filter(({ length }) => length > 0).map(mean);
  if (means.length < 2) return null;
  const [centre, error] = [mean(means), standardError(means)];
  const overSeeds = centre === 0 ? 1 : tTest(centre / error, means.length - 1);
  return Math.max(overSeeds, meanTest(tasksOf(seeds), DIFFERENCE));
}

/** The interval over the seeds' means, widened to contain that over their tasks. */
function together(seeds: BySeed, ofTasks: Interval | null, range: readonly [number, number]): Estimate | null {
  const estimate = overSeeds(seeds.filter(({ length }) => length > 0).map(mean), range);
  return estimate && { ...estimate, low: Math.min(estimate.low, ofTasks!.low), high: Math.max(estimate.high, ofTasks!.high) };
}

/** The mean of one value per seed. One seed has no interval: its ends are the value. @returns null without values */
export function overSeeds(values: readonly number[], [min, max]: readonly [number, number] = ANY): Estimate | null {
  if (values.length === 0) return null;
  const value = mean(values);
  const reach = values.length < 2 ? 0 : t975(values.length - 1) * standardError(values);
  return { value, low: Math.max(min, value - reach), high: Math.min(max, value + reach), seeds: values.length };
}
