/** Means over seeds with intervals: against hand-worked values, and how often they contain the truth in a simulation. */
import { describe, expect, test } from 'vitest';
import { hash32 } from '../../../src/base/random.ts';
import { mean } from '../../../src/evaluation/pass-hat.ts';
import { overSeeds, overSeedsAndTasks, t975 } from '../../../src/experiments/estimate.ts';

const SHARE = [0, 1] as const;

test('quantiles of Student’s t, against the tables of any textbook', () => {
  expect([1, 2, 4, 10].map(t975)).toEqual([12.706, 4.303, 2.776, 2.228]);
  expect(t975(11)).toBeCloseTo(2.201, 2);
  expect(t975(20)).toBeCloseTo(2.086, 3);
  expect(t975(60)).toBeCloseTo(2.0, 3);
  expect(() => t975(0)).toThrow('df is 0: expected a whole number from 1');
});

test('one value per seed: mean ± t · s/√n', () => {
  // Mean 4, s² = 4, s/√3 = 1.1547, t(2) = 4.303: ± 4.9687.
  const { value, low, high, seeds } = overSeeds([2, 4, 6])!;
  expect([value, seeds]).toEqual([4, 3]);
  expect(low).toBeCloseTo(4 - 4.9687, 4);
  expect(high).toBeCloseTo(4 + 4.9687, 4);
  expect(overSeeds([3])).toEqual({ value: 3, low: 3, high: 3, seeds: 1 });
  expect(overSeeds([])).toBeNull();
});

describe('seeds and tasks', () => {
  test('the spread between the seeds decides where it is the larger one', () => {
    // Means 0, 0.5 and 1: s = 0.5, s/√3 = 0.28868, ± 1.24217. The tasks of a seed do not differ, except in the second seed.
    const estimate = overSeedsAndTasks(
      [
        [0, 0],
        [0, 1],
        [1, 1],
      ],
      [-1, 2],
    )!;
    expect(estimate.value).toBe(0.5);
    expect(estimate.low).toBeCloseTo(0.5 - 1.24217, 4);
    expect(estimate.high).toBeCloseTo(0.5 + 1.24217, 4);
  });

  test('seeds that agree by luck do not make the interval narrower than its tasks allow', () => {
    // Every mean is 0.5. A seed’s variance of the mean is (4 · 0.25 / 3) / 4 = 1/12; over three seeds √(3/12)/3 = 1/6: ± 0.32666.
    const estimate = overSeedsAndTasks(
      [
        [0, 1, 0, 1],
        [1, 1, 0, 0],
        [0, 0, 1, 1],
      ],
      SHARE,
    )!;
    expect(estimate.value).toBe(0.5);
    expect(estimate.low).toBeCloseTo(0.5 - 0.32666, 4);
    expect(estimate.high).toBeCloseTo(0.5 + 0.32666, 4);
  });

  test('the interval is cut at what is possible; seeds without tasks are left out; one seed has the interval of its tasks', () => {
    expect(overSeedsAndTasks([[0, 0, 0], [1, 1, 1], []], SHARE)).toEqual({ value: 0.5, low: 0, high: 1, seeds: 2 });
    const one = overSeedsAndTasks([[0, 1, 0, 1]], SHARE)!;
    expect(one).toMatchObject({ value: 0.5, seeds: 1 });
    expect(one.low).toBeLessThan(0.5);
    expect(overSeedsAndTasks([[], []], SHARE)).toBeNull();
  });
});

/** Uniform numbers from counters. */
const uniform = (...keys: number[]) => (hash32(...keys) + 0.5) / 2 ** 32;
const normal = (...keys: number[]) => Math.sqrt(-2 * Math.log(uniform(...keys, 1))) * Math.cos(2 * Math.PI * uniform(...keys, 2));

/** Values of `tasks` tasks per seed with a deviation of 0.55, as paired differences −1, 0 and 1 often have it. The truth of a seed is normal too. */
function simulate(repeat: number, truth: number, spread: number, seeds: number, tasks: number): number[][] {
  return Array.from({ length: seeds }, (_, seed) => {
    const own = truth + spread * normal(repeat, seed, 7);
    return Array.from({ length: tasks }, (_, task) => own + 0.55 * normal(repeat, seed, task, 3));
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
      const { low, high } = overSeedsAndTasks(simulate(repeat, truth, spread, seeds, 64), [-9, 9])!;
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
