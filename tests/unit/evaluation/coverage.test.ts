/** How often intervals contain the truth: by all outcomes of small experiments, and by simulation. 95 % is meant. */
import { describe, expect, test } from 'vitest';
import { hash32 } from '../../../src/base/random.ts';
import { betaCdf } from '../../../src/base/student-t.ts';
import { meanInterval, shareInterval } from '../../../src/evaluation/intervals.ts';

type Ends = { low: number; high: number };

/** The interval of Liddell (1983): Clopper and Pearson's for the share of gained pairs among the discordant ones. */
function liddell(gained: number, lost: number, n: number): Ends {
  const m = gained + lost;
  const quantile = (p: number, a: number, b: number) => {
    let [low, high] = [0, 1];
    for (let i = 0; i < 40; i++) {
      const middle = (low + high) / 2;
      if (betaCdf(middle, a, b) < p) low = middle;
      else high = middle;
    }
    return low;
  };
  const low = gained === 0 ? 0 : quantile(0.025, gained, lost + 1);
  const high = lost === 0 ? 1 : quantile(0.975, gained + 1, lost);
  return { low: ((2 * low - 1) * m) / n, high: ((2 * high - 1) * m) / n };
}

const ours = (gained: number, lost: number, n: number): Ends =>
  meanInterval(
    Array.from({ length: n }, (_, i) => ({ sum: i < gained ? 1 : i < gained + lost ? -1 : 0, of: 1 })),
    [-1, 1],
  )!;

/** The lowest coverage for n pairs, over chances of a gain and of a loss in steps of `step`. Every outcome counts with its probability. */
function lowestCoverage(interval: typeof ours, n: number, step: number): number {
  const logFactorial = [0];
  for (let i = 1; i <= n; i++) logFactorial[i] = logFactorial[i - 1]! + Math.log(i);
  const outcomes: { gained: number; lost: number; ways: number; ends: Ends }[] = [];
  for (let gained = 0; gained <= n; gained++)
    for (let lost = 0; gained + lost <= n; lost++) {
      const ways = logFactorial[n]! - logFactorial[gained]! - logFactorial[lost]! - logFactorial[n - gained - lost]!;
      outcomes.push({ gained, lost, ways, ends: interval(gained, lost, n) });
    }
  /** count · ln chance, where 0 · ln 0 is 0. */
  const times = (count: number, chance: number) => (count === 0 ? 0 : count * Math.log(chance));
  let lowest = 1;
  const steps = Math.round(1 / step);
  for (let i = 0; i <= steps; i++)
    for (let j = 0; i + j <= steps; j++) {
      const [gain, loss, rest] = [i / steps, j / steps, (steps - i - j) / steps] as const;
      let covered = 0;
      for (const { gained, lost, ways, ends } of outcomes)
        if (ends.low <= gain - loss + 1e-9 && gain - loss <= ends.high + 1e-9)
          covered += Math.exp(ways + times(gained, gain) + times(lost, loss) + times(n - gained - lost, rest));
      lowest = Math.min(lowest, covered);
    }
  return lowest;
}

describe('the paired interval, by all outcomes', () => {
  test.each([
    [10, 0.02],
    [20, 0.025],
    [40, 0.025],
  ])('of %i pairs contains at least 94 %%, whatever the chances are', (n, step) => {
    expect(lowestCoverage(ours, n, step)).toBeGreaterThanOrEqual(0.94);
  });

  test('Liddell’s, which takes the number of discordant pairs as given, contains less than half somewhere', () => {
    expect(lowestCoverage(liddell, 10, 0.05)).toBeLessThan(0.5);
  });
});

describe('the interval over customers, by simulation', () => {
  const uniform = (...keys: number[]) => (hash32(...keys) + 0.5) / 2 ** 32;
  const TRIALS = 4;
  const CUSTOMERS = 20;
  const REPEATS = 400;

  /** Customers with one to three tasks each. A customer is easy (always solved) in `share` of the cases, else hard (never solved). */
  const simulate = (share: number, repeat: number) =>
    Array.from({ length: CUSTOMERS }, (_, customer) => {
      const chance = uniform(repeat, customer, 1) < share ? 0.97 : 0.03;
      const of = 1 + (hash32(repeat, customer, 2) % 3);
      let sum = 0;
      for (let trial = 0; trial < of * TRIALS; trial++) sum += uniform(repeat, customer, trial, 3) < chance ? 1 / TRIALS : 0;
      return { sum, of };
    });

  /** A percentile bootstrap over customers. */
  const bootstrap = (clusters: { sum: number; of: number }[], repeat: number): Ends => {
    const values = Array.from({ length: 200 }, (_, sample) => {
      const drawn = clusters.map((_, i) => clusters[hash32(repeat, sample, i) % clusters.length]!);
      return drawn.reduce((all, { sum }) => all + sum, 0) / drawn.reduce((all, { of }) => all + of, 0);
    }).sort((a, b) => a - b);
    return { low: values[4]!, high: values[194]! };
  };

  const coverage = (share: number, interval: (clusters: { sum: number; of: number }[], repeat: number) => Ends) => {
    const truth = share * 0.97 + (1 - share) * 0.03;
    let covered = 0;
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const { low, high } = interval(simulate(share, repeat), repeat);
      covered += Number(low <= truth && truth <= high);
    }
    return covered / REPEATS;
  };

  test.each([0.05, 0.3, 0.8, 0.95])('contains the truth where %f of the customers are easy', (share) => {
    expect(coverage(share, (clusters) => shareInterval(clusters)!)).toBeGreaterThanOrEqual(0.94);
  });

  test('a percentile bootstrap over customers claims too much where few fail', () => {
    expect(coverage(0.95, bootstrap)).toBeLessThan(0.85);
  });
});
