/** @file Which conversations of a data set a person reviews. */
import { apportion } from '../base/apportion.ts';
import { groupBy } from '../base/group-by.ts';
import { permutation } from '../base/random.ts';
import { type Keep, KEEPS } from '../records/grades.ts';

/** How many conversations are drawn. */
export const DRAWN = 100;

export interface Sampled {
  /** The place in the data set. */
  index: number;
  /** What rules and model decided. */
  keep: Keep;
  /** What the conversation is about, or how it was spoilt. */
  kind: string;
}

/**
 * The places of conversations in a random order that depends on the seed only. Each verdict gets the same number, as far as it has
 * conversations. Within a verdict each kind has its share, so that the draw says how many of the kept ones are bad.
 */
export function drawReviews(rows: readonly Sampled[], seed: number, count = DRAWN): number[] {
  const shuffled = permutation(rows.length, seed, 0).map((i) => rows[i]!);
  const verdicts = KEEPS.map((keep) => shuffled.filter((row) => row.keep === keep));
  const sizes = equalShares(verdicts.map(({ length }) => length), count); // prettier-ignore
  const chosen = verdicts.flatMap((own, i) => {
    const kinds = [...groupBy(own, ({ kind }) => kind)].sort(([a], [b]) => (a < b ? -1 : 1));
    const places = apportion(
      kinds.map(([, of]) => of.length),
      sizes[i]!,
    );
    return kinds.flatMap(([, of], k) => of.slice(0, places[k]));
  });
  // Shuffled again, because the place in the order must not tell the verdict.
  return permutation(chosen.length, seed, 1).map((i) => chosen[i]!.index);
}

/** The same number of places for each group, and at most its size. What small groups leave goes to the others. */
function equalShares(sizes: readonly number[], places: number): number[] {
  const found = sizes.map(() => 0);
  for (
    let left = Math.min(
      places,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    left > 0;
  )
    for (const [i, size] of sizes.entries())
      if (left > 0 && found[i]! < size) {
        found[i]! += 1;
        left -= 1;
      }
  return found;
}
