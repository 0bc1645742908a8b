/** Which conversations a person reviews. */
import { expect, test } from 'vitest';
import { apportion } from '../../../src/base/apportion.ts';
import type { Keep } from '../../../src/records/grades.ts';
import { drawReviews, type Sampled } from '../../../src/synthesis/review-sample.ts';

const rows = (counts: Record<string, number>): Sampled[] =>
  Object.entries(counts)
    .flatMap(([name, n]) => Array.from({ length: n }, () => name.split(' ') as [Keep, string]))
    .map(([keep, kind], index) => ({ index, keep, kind }));
const countsOf = (all: readonly Sampled[], drawn: readonly number[]) => {
  const found: Record<string, number> = {};
  for (const index of drawn) found[`${all[index]!.keep} ${all[index]!.kind}`] = (found[`${all[index]!.keep} ${all[index]!.kind}`] ?? 0) + 1;
  return found;
};

test('each verdict has the same number, and each kind its share within a verdict', () => {
  const all = rows({ 'yes a': 600, 'yes b': 200, 'no a': 90, 'no c': 10, 'person d': 100 });
  const drawn = drawReviews(all, 1, 60);
  expect(countsOf(all, drawn)).toEqual({ 'yes a': 15, 'yes b': 5, 'no a': 18, 'no c': 2, 'person d': 20 });
  expect(new Set(drawn).size).toBe(60);
  expect(drawReviews(all, 1, 60)).toEqual(drawn);
  expect(drawReviews(all, 2, 60)).not.toEqual(drawn);
  // The order says nothing about the verdict.
  const early = (keep: Keep) => drawn.slice(0, 30).filter((index) => all[index]!.keep === keep).length;
  for (const keep of ['yes', 'no', 'person'] as const) expect(Math.abs(early(keep) - 10)).toBeLessThan(6);
});

test('what a small group leaves goes to the others, and a small set is drawn as a whole', () => {
  const all = rows({ 'yes a': 100, 'no a': 3 });
  expect(countsOf(all, drawReviews(all, 1, 50))).toEqual({ 'yes a': 47, 'no a': 3 });
  expect(drawReviews(all, 1, 500)).toHaveLength(103);
  expect(drawReviews([], 1)).toEqual([]);
});

test('places by the largest remainders', () => {
  // Shares of 10: 4.7, 3.8, 1.5. The wholes are 4, 3, 1; the two places that are left go to 0.8 and 0.7.
  expect(apportion([47, 38, 15], 10)).toEqual([5, 4, 1]);
  expect([apportion([2, 1], 9), apportion([0, 0], 3), apportion([], 3)]).toEqual([[2, 1], [0, 0], []]);
});
