/**
 * Cohen's kappa, Gwet's AC1, positive and negative agreement. Reference values, with irrCAC 0.4.4 and statsmodels 0.15.0 in Python:
 *   k = cohens_kappa(np.array([[yes, label], [judge, no]])); k.kappa, k.std_kappa
 *   CAC(pd.DataFrame([[yes, label], [judge, no]])).gwet()['est']     # from irrCAC.table: coefficient_value, se
 */
import { expect, test } from 'vitest';
import { agreementIn, agreementOf, type Cells, cohen, gwet } from '../../../src/evaluation/agreement.ts';

const cellsOf = ([yes, label, judge, no]: readonly number[]): Cells => ({ yes: yes!, label: label!, judge: judge!, no: no! });

test.each([
  [[60, 5, 7, 28], 0.732739420935412, 0.07201051334681138, 0.78229, 0.06145],
  [[30, 3, 3, 14], 0.732620320855615, 0.10197180164909074, 0.78229, 0.0869],
  [[90, 4, 4, 2], 0.29078014184397205, 0.18262968560357443, 0.90983, 0.03299],
  [[20, 5, 10, 15], 0.4, 0.12699606293110033, 0.40594, 0.13015],
  [[118, 5, 2, 0], -0.02339181286549608, 0.012286756672845256, 0.94078, 0.02296],
])('%j: kappa and AC1 with their standard errors, as in statsmodels and irrCAC', (counts, kappa, kappaError, ac1, ac1Error) => {
  const cells = cellsOf(counts);
  expect(cohen(cells).value).toBeCloseTo(kappa, 12);
  expect(cohen(cells).error).toBeCloseTo(kappaError, 12);
  expect(gwet(cells).value).toBeCloseTo(ac1, 5);
  expect(gwet(cells).error).toBeCloseTo(ac1Error, 5);
});

test('nearly all conversations of one kind: kappa is 0, AC1 is not', () => {
  const { kappa, ac1, positive, negative } = agreementIn(cellsOf([85, 15, 0, 0]));
  expect(kappa!.value).toBeCloseTo(0, 12);
  expect(ac1!.value).toBeCloseTo(0.82583, 5);
  // 2 · 85 / (2 · 85 + 15) and 0 / 15
  expect(positive!.value).toBeCloseTo(170 / 185, 12);
  expect(negative!.value).toBe(0);
});

test('without a difference no interval has width 0, and what chance explains has no kappa', () => {
  const all = agreementIn(cellsOf([10, 0, 0, 10]));
  expect([all.kappa, all.ac1, all.positive].map((one) => one!.value)).toEqual([1, 1, 1]);
  for (const { low, high } of [all.kappa!, all.ac1!, all.positive!]) {
    expect(low).toBeLessThan(0.9);
    expect(high).toBeCloseTo(1, 12);
  }
  expect(agreementIn(cellsOf([20, 0, 0, 0]))).toMatchObject({ n: 20, kappa: null, ac1: { value: 1 }, negative: null });
  expect(agreementIn(cellsOf([0, 0, 0, 0]))).toMatchObject({ n: 0, kappa: null, ac1: null, positive: null, negative: null });
});

test('only conversations with a label and a verdict count', () => {
  const labels = new Map([['a', true], ['b', true], ['c', false], ['d', false], ['e', true]]); // prettier-ignore
  const verdicts = new Map([['a', true], ['b', false], ['c', true], ['d', false], ['z', true]]); // prettier-ignore
  expect(agreementOf(labels, verdicts).cells).toEqual({ yes: 1, label: 1, judge: 1, no: 1 });
});

/** Shares of the four cells in truth. */
const TRUTHS = [
  [0.6, 0.05, 0.07, 0.28],
  [0.9, 0.04, 0.04, 0.02],
  [0.25, 0.25, 0.25, 0.25],
  [0.48, 0.02, 0.02, 0.48],
  [0.95, 0.02, 0.02, 0.01],
  [0.8, 0.1, 0.05, 0.05],
  [0.3, 0.1, 0.2, 0.4],
];

/** How often the interval of a coefficient covers the truth, over all tables of n conversations. */
function coverage(
  n: number,
  truth: readonly number[],
  coefficients: ((cells: Cells) => { truth: number; interval: { low: number; high: number } | null })[],
) {
  const logs = truth.map(Math.log);
  const factorial = [0];
  for (let i = 1; i <= n; i++) factorial.push(factorial[i - 1]! + Math.log(i));
  const covered = coefficients.map(() => 0);
  for (let a = 0; a <= n; a++)
    for (let b = 0; a + b <= n; b++)
      for (let c = 0; a + b + c <= n; c++) {
        const counts = [a, b, c, n - a - b - c];
        const chance = Math.exp(counts.reduce((sum, count, i) => sum + count * logs[i]! - factorial[count]!, factorial[n]!));
        if (chance < 1e-9) continue;
        coefficients.forEach((coefficient, i) => {
          const { truth: value, interval } = coefficient(cellsOf(counts));
          // Where the coefficient is not defined, nothing is said.
          if (!interval || (interval.low <= value && value <= interval.high)) covered[i]! += chance;
        });
      }
  return covered;
}

test.each([20, 50, 100])('with %i conversations, the intervals cover the truth in at least 94 of 100 cases', { timeout: 60_000 }, (n) => {
  for (const truth of TRUTHS) {
    const exact = cellsOf(truth.map((share) => share * 1e6));
    const twice = (same: number, other: number) => (2 * same) / (2 * same + other);
    const [yes, label, judge, no] = truth as [number, number, number, number];
    const covered = coverage(n, truth, [
      (cells) => ({ truth: cohen(exact).value, interval: agreementIn(cells).kappa }),
      (cells) => ({ truth: gwet(exact).value, interval: agreementIn(cells).ac1 }),
      (cells) => ({ truth: twice(yes, label + judge), interval: agreementIn(cells).positive }),
      (cells) => ({ truth: twice(no, label + judge), interval: agreementIn(cells).negative }),
    ]);
    // Wilson's interval covers a little less than 95 % for some shares (Brown, Cai and DasGupta 2001).
    expect(Math.min(...covered.slice(0, 2))).toBeGreaterThan(0.94);
    expect(Math.min(...covered.slice(2))).toBeGreaterThan(0.9);
  }
});
