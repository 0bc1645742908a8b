/** Intervals and corrections against published values. Newcombe 1998 a: Statistics in Medicine 17, 857–872; b: 17, 873–890. */
import { describe, expect, test } from 'vitest';
import { holm } from '../../../src/base/holm.ts';
import { betaCdf, t975, tTest } from '../../../src/base/student-t.ts';
import { wilson } from '../../../src/base/wilson.ts';
import {
  type Cluster,
  clustersOf,
  independentDifference,
  meanInterval,
  meanTest,
  shareInterval,
} from '../../../src/evaluation/intervals.ts';
import { passHatInterval } from '../../../src/evaluation/pass-hat.ts';

/** One value for each customer. */
const singles = (...values: number[]): Cluster[] => values.map((sum) => ({ sum, of: 1 }));
const outcomes = (successes: number, of: number) => singles(...Array.from({ length: of }, (_, i) => Number(i < successes)));
const percent = ({ low, high }: { low: number; high: number }) => [low, high].map((end) => (100 * end).toFixed(1));

test.each([
  // Newcombe 1998 a, table I, method 3.
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('Wilson: %i of %i', (count, of, low, high) => {
  for (const interval of [wilson(count, of)!, shareInterval(outcomes(count, of))!]) {
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  }
});

test('one trial a task: 9 of 9 are 70.1 to 100, and 0 of 20 are 0 to 16.1', () => {
  const played = (successes: number, tasks: number) =>
    Array.from({ length: tasks }, (_, i) => ({ customer: `${i}`, successes: Number(i < successes), trials: 1 }));
  expect(percent(passHatInterval(played(9, 9), 1)!)).toEqual(['70.1', '100.0']);
  expect(percent(passHatInterval(played(0, 20), 1)!)).toEqual(['0.0', '16.1']);
});

test('the incomplete beta function gives the intervals of Clopper and Pearson', () => {
  /** Bisects for the quantile. */
  const quantile = (p: number, a: number, b: number) => {
    let [low, high] = [0, 1];
    for (let i = 0; i < 50; i++) {
      const middle = (low + high) / 2;
      if (betaCdf(middle, a, b) < p) low = middle;
      else high = middle;
    }
    return low;
  };
  const clopperPearson = (count: number, of: number) => [quantile(0.025, count, of - count + 1), quantile(0.975, count + 1, of - count)];
  // Newcombe 1998 a, table I, method 5.
  for (const [count, of, ...ends] of [
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [1, 29, 0.0009, 0.1776],
  ] as const)
    expect(clopperPearson(count, of).map((end) => end.toFixed(4))).toEqual(ends.map((end) => end.toFixed(4)));
  // R's binom.test(682, 925).
  expect(clopperPearson(682, 925)[0]).toBeCloseTo(0.7076683, 7);
  expect(clopperPearson(682, 925)[1]).toBeCloseTo(0.7654066, 7);
});

test('Student’s t, against the tables of any textbook', () => {
  expect([1, 2, 3, 4, 10, 20, 60].map((df) => t975(df).toFixed(3))).toEqual([
    '12.706',
    '4.303',
    '3.182',
    '2.776',
    '2.228',
    '2.086',
    '2.000',
  ]);
  expect(() => t975(0)).toThrow('df is 0: expected a whole number from 1');
  // One degree of freedom is Cauchy's distribution: P(|T| ≥ 1) = 1/2.
  expect(tTest(1, 1)).toBeCloseTo(0.5, 12);
  expect(tTest(-1.8125, 10)).toBeCloseTo(0.1, 4);
  expect(tTest(0, 5)).toBe(1);
});

test.each([
  // Newcombe 1998 b, table II, method 10: a/m − b/n.
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
])('Newcombe: %i/%i − %i/%i', (a, m, b, n, low, high) => {
  const difference = independentDifference(shareInterval(outcomes(b, n))!, shareInterval(outcomes(a, m))!);
  expect(difference.value).toBeCloseTo(a / m - b / n, 12);
  expect(difference.low).toBeCloseTo(low, 4);
  expect(difference.high).toBeCloseTo(high, 4);
});

describe('Holm', () => {
  test('corrects the smallest value by their number, the next by one less, and never falls', () => {
    // 4 · 0.005, 3 · 0.01, 2 · 0.03, and 0.06 again, as 1 · 0.04 is less.
    expect(holm([0.01, 0.04, 0.03, 0.005]).map((p) => Number(p!.toFixed(12)))).toEqual([0.03, 0.06, 0.06, 0.02]);
  });

  test('ends at 1; one value stays; equal values stay equal', () => {
    expect(holm([0.5, 0.9, 0.4])).toEqual([1, 1, 1]);
    expect(holm([0.03])).toEqual([0.03]);
    expect(holm([0.02, 0.02])).toEqual([0.04, 0.04]);
    expect(holm([])).toEqual([]);
    expect(holm([null, 0.03, null, 0.01])).toEqual([null, 0.03, null, 0.02]);
  });
});

describe('customers', () => {
  const trials = (customer: string, successes: number) => ({ customer, successes, trials: 4 });

  test('tasks of a customer count as one unit: more tasks of the same customers do not narrow the interval', () => {
    const few = ['a', 'b', 'c', 'd', 'e', 'f'].map((customer, i) => trials(customer, i % 2 ? 3 : 1));
    const many = few.flatMap((one) => Array.from({ length: 10 }, () => one));
    const [narrow, wide] = [passHatInterval(few, 1)!, passHatInterval(many, 1)!];
    expect(wide.value).toBe(0.5);
    expect(wide.low).toBeCloseTo(narrow.low, 12);
    expect(wide.high).toBeCloseTo(narrow.high, 12);
    // As 60 customers, they would.
    const strangers = many.map((one, i) => ({ ...one, customer: `${i}` }));
    expect(passHatInterval(strangers, 1)!.high).toBeLessThan(wide.high - 0.1);
  });

  test('if every trial succeeds, the interval is Wilson’s over the customers', () => {
    const all = Array.from({ length: 18 }, (_, i) => trials(`${i % 9}`, 4));
    expect(percent(passHatInterval(all, 4)!)).toEqual(['70.1', '100.0']);
  });

  test('several trials: Student’s t over the customers and two imagined ones', () => {
    // Values 0.25, 0.75 and 0.5, then 0 and 1: mean 0.5, variance 0.625 / 5 = 0.125, error √(0.125 / 3) = 0.20412, t(2) = 4.3027: ± 0.87826.
    const { value, low, high } = passHatInterval([trials('a', 1), trials('b', 3), trials('c', 2)], 1)!;
    expect([value, low, high]).toEqual([0.5, 0, 1]);
    // Differences 0.5, 0.5, 0 and 0, then −1 and 1: mean 1/6, variance 2.5 / 6 − 1/36 = 0.38889, error 0.31180, t(3) = 3.1824: ± 0.99229.
    const difference = meanInterval(singles(0.5, 0.5, 0, 0), [-1, 1])!;
    expect(difference.value).toBe(0.25);
    expect(difference.low).toBeCloseTo(1 / 6 - 0.99229, 4);
    expect(difference.high).toBe(1);
  });

  test('of different sizes: the share is over all values', () => {
    const clusters = clustersOf(
      [1, 2, 3, 10],
      (n) => (n < 4 ? 'a' : 'b'),
      (n) => Number(n !== 2),
    );
    expect(clusters).toEqual([
      { sum: 2, of: 3 },
      { sum: 1, of: 1 },
    ]);
    expect(shareInterval(clusters)!.value).toBe(0.75);
  });

  test('a task with fewer than k scored trials has no say in pass^k', () => {
    const results = [
      { customer: 'a', successes: 2, trials: 2 },
      { customer: 'b', successes: 0, trials: 1 },
      { customer: 'c', successes: 1, trials: 2 },
    ];
    expect(passHatInterval(results, 1)!.value).toBeCloseTo((1 + 0 + 0.5) / 3, 12);
    expect(passHatInterval(results, 2)!.value).toBe(0.5);
    expect(passHatInterval(results, 3)).toBeNull();
  });
});

test('no interval has width 0, and one customer says nothing', () => {
  for (const values of [singles(0, 0), singles(1, 1), singles(0.5, 0.5, 0.5), singles(0.5)]) {
    const share = shareInterval(values)!;
    expect(share.high - share.low).toBeGreaterThan(0.3);
    const difference = meanInterval(values, [-1, 1])!;
    expect(difference.high - difference.low).toBeGreaterThan(0.3);
  }
  expect(meanInterval(singles(0.5), [-1, 1])).toEqual({ value: 0.5, low: -1, high: 1 });
  expect([shareInterval([]), meanInterval([], [-1, 1])]).toEqual([null, null]);
});

test('the p-value is below 0.05 exactly if the interval is without 0', () => {
  for (let n = 2; n <= 30; n++)
    for (let gained = 0; gained <= n; gained++)
      for (const lost of [0, Math.floor((n - gained) / 2), n - gained]) {
        const pairs = Array.from({ length: n }, (_, i) => (i < gained ? 1 : i < gained + lost ? -1 : 0));
        const { low, high } = meanInterval(singles(...pairs), [-1, 1])!;
        expect(meanTest(singles(...pairs), [-1, 1]) < 0.05).toBe(low > 0 || high < 0);
      }
  expect(meanTest(singles(1), [-1, 1])).toBe(1);
});
