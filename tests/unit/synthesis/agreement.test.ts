/** The interval of kappa by resamples, and the bound of the errors that are left. */
import { expect, test } from 'vitest';
import { agreementIn, type Cells } from '../../../src/evaluation/agreement.ts';
import { bootstrapKappa } from '../../../src/synthesis/agreement.ts';
import { errorBound, moreToCheck } from '../../../src/synthesis/error-bound.ts';

const cellsOf = ([yes, label, judge, no]: readonly number[]): Cells => ({ yes: yes!, label: label!, judge: judge!, no: no! });

/** Cells, agreement, kappa with the 2.5 % and 97.5 % quantiles of 2,000 resamples of another program, and AC1. */
test.each([
  [[60, 5, 7, 28], 0.88, 0.733, 0.58, 0.86, 0.782],
  [[30, 3, 3, 14], 0.88, 0.733, 0.5, 0.92, 0.782],
  [[90, 4, 4, 2], 0.92, 0.291, -0.05, 0.65, 0.91],
])('%j: raw agreement, kappa with its interval, and AC1', (counts, raw, kappa, low, high, ac1) => {
  const cells = cellsOf(counts);
  const found = agreementIn(cells);
  expect((cells.yes + cells.no) / found.n).toBeCloseTo(raw, 12);
  expect(Math.abs(found.kappa!.value - kappa)).toBeLessThan(0.001);
  expect(Math.abs(found.ac1!.value - ac1)).toBeLessThan(0.001);
  const interval = bootstrapKappa(cells)!;
  // The quantiles of two sets of 2,000 resamples differ by about 0.01.
  expect(Math.abs(interval.low - low)).toBeLessThan(0.04);
  expect(Math.abs(interval.high - high)).toBeLessThan(0.04);
  expect(bootstrapKappa(cells)).toEqual(interval);
});

test('a judge that says yes to all has kappa 0 in every resample, and equal answers have none', () => {
  const interval = bootstrapKappa(cellsOf([85, 0, 15, 0]))!;
  expect(interval.low).toBeCloseTo(0, 12);
  expect(interval.high).toBeCloseTo(0, 12);
  expect(bootstrapKappa(cellsOf([20, 0, 0, 0]))).toBeNull();
  expect(bootstrapKappa(cellsOf([0, 0, 0, 0]))).toBeNull();
});

test.each([
  // Without a bad one: 1 − 0.05^(1/n).
  [0, 30, 0.095],
  [0, 60, 0.0487],
  [0, 100, 0.0295],
  [0, 300, 0.0099],
  // Python: the p with sum(math.comb(n, k) * p**k * (1 - p)**(n - k) for k in range(bad + 1)) == 0.05
  [1, 100, 0.04656],
  [3, 100, 0.07571],
  [2, 50, 0.12061],
])('%i bad of %i leave at most %f', (bad, n, bound) => {
  expect(errorBound(bad, n)).toBeCloseTo(bound, 4);
});

test('nothing checked bounds nothing, and all bad is all bad', () => {
  expect([errorBound(0, 0), errorBound(5, 5)]).toEqual([1, 1]);
});

test('how many more to check', () => {
  // ln 0.05 / ln 0.97 = 98.4
  expect([moreToCheck(0, 0, 0.03), moreToCheck(0, 60, 0.03), moreToCheck(0, 99, 0.03)]).toEqual([99, 39, 0]);
  const more = moreToCheck(2, 50, 0.05);
  expect(errorBound(2, 50 + more)).toBeLessThan(0.05);
  expect(errorBound(2, 50 + more - 1)).toBeGreaterThanOrEqual(0.05);
});
