/** Means over seeds with intervals: against hand-worked values, and how often they contain the truth in a simulation. */
import { describe, expect, test } from 'vitest';
import { hash32 } from '../../../src/base/random.ts';
import { mean } from '../../../src/evaluation/pass-hat.ts';
import { differencesOverSeeds, differencesTest, overSeeds, sharesOverSeeds } from '../../../src/experiments/estimate.ts';

test('one value per seed: mean ± t · s/√n', () => {
  // Mean 4, s² = 4, s/√3 = 1.1547, t(2) = 4.3027: ± 4.9683.
  const { value, low, high, seeds } = overSeeds([2, 4, 6])!;
  expect([value, seeds]).toEqual([4, 3]);
  expect(low).toBeCloseTo(4 - 4.9683, 4);
  expect(high).toBeCloseTo(4 + 4.9683, 4);
  expect(overSeeds([3])).toEqual({ value: 3, low: 3, high: 3, seeds: 1 });
  expect(overSeeds([])).toBeNull();
});

describe('seeds and tasks', () => {
  test('the spread between the seeds decides where it is the larger one', () => {
    // Means 0, 0.5 and 1: s = 0.5, s/√3 = 0.28868, ± 1.24207. The interval ends at what is possible.
    const estimate = differencesOverSeeds([
      [0, 0],
      [0, 1],
      [1, 1],
    ])!;
    expect(estimate.value).toBe(0.5);
    expect(estimate.low).toBeCloseTo(0.5 - 1.24207, 4);
    expect(estimate.high).toBe(1);
  });

  test('seeds that agree by luck do not make the interval narrower than its tasks allow', () => {
    // Every mean is 0.5. Wilson's interval of 6 of 12 is 25.4 to 74.6.
    const estimate = sharesOverSeeds([
      [0, 1, 0, 1],
      [1, 1, 0, 0],
      [0, 0, 1, 1],
    ])!;
    expect(estimate.value).toBe(0.5);
    expect(estimate.low).toBeCloseTo(0.2538, 4);
    expect(estimate.high).toBeCloseTo(0.7462, 4);
  });

  test('no interval has width 0: nine of nine tasks over three seeds are 70.1 to 100', () => {
    const all = [1, 1, 1];
    const estimate = sharesOverSeeds([all, all, all])!;
    expect([estimate.value, estimate.high]).toEqual([1, 1]);
    expect(estimate.low).toBeCloseTo(0.701, 3);
    // Nine differences of 0, then −1 and 1: variance 2/11, error √(2/99) = 0.14213, t(8) = 2.306: ± 0.32776.
    const same = differencesOverSeeds([all, all, all].map((tasks) => tasks.map(() => 0)))!;
    expect([same.low, same.value]).toEqual([expect.closeTo(-0.32776, 4), 0]);
    expect(same.high).toBeCloseTo(0.32776, 4);
  });

  test('seeds without tasks are left out; one seed has the interval of its tasks', () => {
    expect(sharesOverSeeds([[0, 0, 0], [1, 1, 1], []])).toEqual({ value: 0.5, low: 0, high: 1, seeds: 2 });
    const one = sharesOverSeeds([[0, 1, 0, 1]])!;
    expect(one).toMatchObject({ value: 0.5, seeds: 1 });
    // Wilson's interval of 2 of 4.
    expect([one.low.toFixed(3), one.high.toFixed(3)]).toEqual(['0.150', '0.850']);
    expect(sharesOverSeeds([[], []])).toBeNull();
  });

  test('the p-value is the larger one of seeds and tasks, and agrees with the interval', () => {
    // Means 0.2, 0.3 and 0.4 of ten tasks: 0.3 / (0.1 / √3) = 5.196, with two degrees of freedom p = 1 − 5.196 / √(5.196² + 2) = 0.0351.
    const seeds = [2, 3, 4].map((gained) => Array.from({ length: 10 }, (_, i) => Number(i < gained)));
    expect(differencesTest(seeds)).toBeCloseTo(0.0351, 4);
    expect(differencesTest(seeds.slice(0, 1))).toBeNull();
    expect(
      differencesTest([
        [0, 0],
        [0, 0],
      ]),
    ).toBe(1);
    for (let repeat = 0; repeat < 300; repeat++) {
      const drawn = simulate(repeat, 0.15, 0.1, 3, 30);
      const { low, high } = differencesOverSeeds(drawn)!;
      expect(differencesTest(drawn)! < 0.05).toBe(low > 0 || high < 0);
    }
  });
});

/** Uniform numbers from counters. */
const uniform = (...keys: number[]) => (hash32(...keys) + 0.5) / 2 ** 32;
const normal = (...keys: number[]) => Math.sqrt(-2 * Math.log(uniform(...keys, 1))) * Math.cos(2 * Math.PI * uniform(...keys, 2));

/** Paired differences −1, 0 and 1 of `tasks` tasks per seed. Half of them are 0. The truth of a seed is normal. */
function simulate(repeat: number, truth: number, spread: number, seeds: number, tasks: number): number[][] {
  return Array.from({ length: seeds }, (_, seed) => {
    const own = Math.max(-0.5, Math.min(0.5, truth + spread * normal(repeat, seed, 7)));
    return Array.from({ length: tasks }, (_, task) => {
      const at = uniform(repeat, seed, task, 3);
      if (at < (0.5 + own) / 2) return 1;
      return at < 0.5 ? -1 : 0;
    });
  });
}

/** A percentile bootstrap that resamples seeds, then tasks. */
function bootstrap(seeds: number[][], repeat: number): [number, number] {
  const values = Array.from({ length: 200 }, (_, sample) =>
    mean(
      seeds.map((_, i) => {
        const drawn = seeds[hash32(repeat, sample, i) % seeds.length]!;
        return mean(drawn.map((_, task) => drawn[hash32(repeat, sample, i, task, 5) % drawn.length]!));
      }),
    ),
  ).sort((a, b) => a - b);
  return [values[4]!, values[194]!];
}

describe('how often the interval contains the truth (95 % is meant)', () => {
  const REPEATS = 1000;
  test.each([
    { seeds: 3, spread: 0.1, least: 0.935, most: 0.98 },
    { seeds: 5, spread: 0.1, least: 0.935, most: 0.98 },
    { seeds: 3, spread: 0, least: 0.94, most: 1 },
    { seeds: 5, spread: 0.03, least: 0.94, most: 1 },
  ])('$seeds seeds with a spread of $spread', ({ seeds, spread, least, most }) => {
    const truth = 0.05;
    const covered = Array.from({ length: REPEATS }, (_, repeat) => {
      const { low, high } = differencesOverSeeds(simulate(repeat, truth, spread, seeds, 64))!;
      return Number(low <= truth && truth <= high);
    });
    expect(mean(covered)).toBeGreaterThanOrEqual(least);
    expect(mean(covered)).toBeLessThanOrEqual(most);
  });

  test('a percentile bootstrap over three seeds and their tasks claims too much', () => {
    const truth = 0.05;
    const covered = Array.from({ length: 400 }, (_, repeat) => {
      const [low, high] = bootstrap(simulate(repeat, truth, 0.3, 3, 32), repeat);
      return Number(low <= truth && truth <= high);
    });
    expect(mean(covered)).toBeLessThan(0.85);
  });
});
