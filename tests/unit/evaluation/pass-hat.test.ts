/** pass^k over tasks and its interval. Expected values are counted by hand or follow from the binomial distribution. */
import { expect, test } from 'vitest';
import { meanInterval, passHatInterval } from '../../../src/evaluation/pass-hat.ts';

test('a task with fewer than k scored trials has no say in pass^k', () => {
  const results = [
    { successes: 2, trials: 2 },
    { successes: 0, trials: 1 },
    { successes: 1, trials: 2 },
  ];
  expect(passHatInterval(results, 1).value).toBeCloseTo((1 + 0 + 0.5) / 3, 12);
  expect(passHatInterval(results, 2).value).toBe(0.5);
});

test('the interval holds 95 % of the distribution of a mean', () => {
  const { value, low, high } = meanInterval(
    Array.from({ length: 400 }, (_, i) => i % 2),
    9,
  );
  expect(value).toBe(0.5);
  // The standard error of a mean of 400 fair coins is 0.025.
  expect(low).toBeCloseTo(0.5 - 1.96 * 0.025, 2);
  expect(high).toBeCloseTo(0.5 + 1.96 * 0.025, 2);
});
