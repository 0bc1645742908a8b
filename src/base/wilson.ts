/** @file Wilson's confidence interval of a share. */

/** The 97.5 % quantile of the standard normal distribution. */
const Z = 1.959964;

/** Wilson's 95 % interval of the share `count / of` (Wilson 1927). null if `of` is 0. */
export function wilson(count: number, of: number): { low: number; high: number } | null {
  if (of === 0) return null;
  const share = count / of;
  const scale = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / scale;
  const reach = (Z / scale) * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  return { low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}
