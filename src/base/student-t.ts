/** @file The beta distribution and Student's t distribution. */

/** ln Γ(x) for x > 0, by Lanczos' approximation with g = 7 and nine coefficients. The relative error is about 1e-15. */
function logGamma(x: number): number {
  const [first, ...terms] = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const sum = terms.reduce((all, term, i) => all + term / (x + i), first!);
  const at = x + 6.5;
  return (x - 0.5) * Math.log(at) - at + Math.log(Math.sqrt(2 * Math.PI) * sum);
}

/**
 * The regularized incomplete beta function I_x(a, b): the distribution function of Beta(a, b) at `x`, for a, b > 0. It is the
 * continued fraction of Abramowitz and Stegun 26.5.8, evaluated by Lentz's method.
 */
export function betaCdf(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - x, b, a);
  const TINY = 1e-300;
  let [c, d, value] = [1, 0, 1];
  for (let i = 1; i < 1000; i++) {
    const m = Math.floor(i / 2);
    const term = ((i % 2 === 0 ? m * (b - m) : -(a + m) * (a + b + m)) * x) / ((a + i - 1) * (a + i));
    d = 1 / (1 + term * d || TINY);
    c = 1 + term / c || TINY;
    value *= c * d;
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / (a * value);
}

/** The chance that |T| is at least |t|, for Student's t with `df` degrees of freedom: the two-sided p-value of `t`. */
export const tTest = (t: number, df: number): number => betaCdf(df / (df + t * t), df / 2, 0.5);

/** The 97.5 % quantile of Student's t, by bisection. @throws RangeError unless `df` is a whole number from 1 */
export function t975(df: number): number {
  if (!Number.isInteger(df) || df < 1) throw new RangeError(`df is ${df}: expected a whole number from 1`);
  let [low, high] = [1.9, 13];
  while (high - low > 1e-10) {
    const middle = (low + high) / 2;
    if (tTest(middle, df) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}
