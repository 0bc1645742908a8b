/** @file Finds conversations that nearly repeat an earlier one. All pairs are compared, without sampling. */

/** The share of common runs of words above which two conversations are nearly the same. */
const SAME = 0.8;

/**
 * @param sets the runs of words of each conversation
 * @returns the indices of conversations whose Jaccard similarity with an earlier one is above `SAME`
 */
export function nearDuplicates(sets: readonly ReadonlySet<string>[]): number[] {
  const frequency = new Map<string, number>();
  for (const set of sets) for (const run of set) frequency.set(run, (frequency.get(run) ?? 0) + 1);
  // Two sets of which 80 % are common share one of the rarest runs of each (prefix filter; Chaudhuri, Ganti and Kaushik 2006).
  const rarest = (set: ReadonlySet<string>) =>
    [...set].sort((a, b) => frequency.get(a)! - frequency.get(b)! || (a < b ? -1 : 1)).slice(0, set.size - Math.ceil(SAME * set.size) + 1);
  const having = new Map<string, number[]>();
  const found: number[] = [];
  for (const [i, set] of sets.entries()) {
    const prefix = rarest(set);
    const tried = new Set<number>();
    const isNear = (j: number) => !tried.has(j) && tried.add(j) && jaccard(set, sets[j]!) > SAME;
    if (prefix.some((run) => having.get(run)?.some(isNear))) found.push(i);
    for (const run of prefix) {
      const earlier = having.get(run);
      if (earlier) earlier.push(i);
      else having.set(run, [i]);
    }
  }
  return found;
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  if (small.size < SAME * large.size) return 0;
  let common = 0;
  for (const run of small) common += Number(large.has(run));
  return common / (a.size + b.size - common);
}
