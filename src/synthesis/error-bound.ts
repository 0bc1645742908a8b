/** @file How many errors can be left in conversations of which a person checked a random sample. */

/**
 * The largest share of bad conversations that the check does not exclude, with 95 % confidence (one-sided, Clopper and Pearson 1934).
 * 1 if none was checked.
 */
export function errorBound(bad: number, checked: number): number {
  if (checked === 0 || bad >= checked) return 1;
  let [low, high] = [bad / checked, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (atMost(bad, checked, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/** How many more good ones must be checked until the bound is below `share`. */
export function moreToCheck(bad: number, checked: number, share: number): number {
  let [low, high] = [0, 1];
  while (errorBound(bad, checked + high) >= share && high < 1e6) high *= 2;
  if (errorBound(bad, checked) < share) return 0;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (errorBound(bad, checked + middle) >= share) low = middle;
    else high = middle;
  }
  return high;
}

/** The probability of at most `k` among `n`, if each has the probability `p`. */
function atMost(k: number, n: number, p: number): number {
  let [term, sum] = [n * Math.log1p(-p), 0];
  for (let i = 0; i <= k; i++) {
    sum += Math.exp(term);
    term += Math.log((n - i) / (i + 1)) + Math.log(p) - Math.log1p(-p);
  }
  return sum;
}
