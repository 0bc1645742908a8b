/**
 * @file 95 % intervals of shares and of differences. Customers are the independent units: the values of one
 * customer belong together. No interval has width 0.
 */
import type { Interval } from '../records/evaluation.ts';
import { groupBy } from '../base/group-by.ts';
import { t975, tTest } from '../base/student-t.ts';
import { wilson } from '../base/wilson.ts';

/** The values of one customer: their sum, and how many there are. */
export interface Cluster {
  sum: number;
  of: number;
}

/** One cluster for each customer, in the order of the first value. */
export function clustersOf<T>(values: readonly T[], customer: (value: T) => string, number: (value: T) => number): Cluster[] {
  return [...groupBy(values, customer).values()].map((own) => ({ sum: own.reduce((sum, one) => sum + number(one), 0), of: own.length }));
}

/**
 * The share Σ sum / Σ of with its 95 % interval; null without values. If all values of each customer are 0, or all are 1, the interval is
 * Wilson's, with the number of customers as sample size. With one customer a task and one trial this is Wilson's interval of the
 * trials. It holds at 0 % and at 100 % too. Otherwise it is `meanInterval`. A percentile bootstrap over customers is not used,
 * because it covers the truth in only 80 to 90 % of the cases (tests/unit/evaluation/coverage.test.ts measures this).
 */
export function shareInterval(clusters: readonly Cluster[]): Interval | null {
  const played = clusters.filter(({ of }) => of > 0);
  if (!played.every(({ sum, of }) => sum === 0 || sum === of)) return meanInterval(played, [0, 1]);
  const value = ratio(played);
  const ends = wilson(value * played.length, played.length);
  return ends && { value, ...ends };
}

/**
 * Σ sum / Σ of with a 95 % interval; null without values. The interval is Student's t over the customers, after one imagined customer
 * with the lowest value of `range` and one with the highest were added to them. For differences of one trial a task, that is the
 * paired interval of Bonett and Price (2012) from the discordant pairs, with Student's t in place of the normal distribution. It was
 * chosen by complete enumeration: for 2 to 100 pairs it covers at least 94 %, whatever the truth (tests/unit/evaluation/coverage.test.ts).
 * Liddell's exact interval (1983) is not used: it takes the number of discordant pairs as given, and covers as little as 42 %.
 * @param range the values that are possible; the interval ends there
 */
export function meanInterval(clusters: readonly Cluster[], range: readonly [number, number]): Interval | null {
  const played = clusters.filter(({ of }) => of > 0);
  if (played.length === 0) return null;
  const { centre, error } = adjusted(played, range);
  const reach = played.length === 1 ? Infinity : t975(played.length - 1) * error;
  return { value: ratio(played), low: Math.max(range[0], centre - reach), high: Math.min(range[1], centre + reach) };
}

/** The two-sided p-value of “the mean is 0”, by the distribution of `meanInterval`: below 0.05 exactly if the interval is without 0. 1 for one customer. */
export function meanTest(clusters: readonly Cluster[], range: readonly [number, number]): number {
  const played = clusters.filter(({ of }) => of > 0);
  if (played.length < 2) return 1;
  const { centre, error } = adjusted(played, range);
  return tTest(centre / error, played.length - 1);
}

const ratio = (clusters: readonly Cluster[]) => total(clusters, 'sum') / total(clusters, 'of');
const total = (clusters: readonly Cluster[], field: keyof Cluster) => clusters.reduce((all, cluster) => all + cluster[field], 0);

/** The mean of the customers and of the two imagined ones, and its standard error. */
function adjusted(clusters: readonly Cluster[], range: readonly [number, number]): { centre: number; error: number } {
  const n = clusters.length;
  const size = total(clusters, 'of') / n;
  const all = [...clusters.map(({ sum, of }) => ({ sum: sum / size, of: of / size })), ...range.map((sum) => ({ sum, of: 1 }))];
  const centre = ratio(all);
  const variance = all.reduce((sum, one) => sum + (one.sum - centre * one.of) ** 2, 0) / (n + 2);
  return { centre, error: Math.sqrt(variance / n) };
}

/**
 * after − before with a 95 % interval, for two evaluations that share no tasks: Newcombe's square-and-add of the two intervals
 * (1998, method 10, if both are Wilson's).
 */
export function independentDifference(before: Interval, after: Interval): Interval {
  const value = after.value - before.value;
  return {
    value,
    low: value - Math.hypot(after.value - after.low, before.high - before.value),
    high: value + Math.hypot(after.high - after.value, before.value - before.low),
  };
}
