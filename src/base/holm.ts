/** @file Holm's correction of p-values, where several comparisons stand side by side. */

/** Holm's correction (1979): p-values of a family of comparisons → corrected p-values, in the same order. null is no comparison, and stays null. */
export function holm(values: readonly (number | null)[]): (number | null)[] {
  const corrected = [...values];
  const rising = [...values.keys()].filter((i) => values[i] !== null).sort((a, b) => values[a]! - values[b]!);
  let least = 0;
  for (const [rank, i] of rising.entries()) {
    least = Math.max(least, Math.min(1, (rising.length - rank) * values[i]!));
    corrected[i] = least;
  }
  return corrected;
}

/** A p-value after Holm's correction as text, with the number of comparisons if there are several: `p = 0.018 after Holm, of 6 comparisons`. */
export function correctedText(p: number, comparisons: number): string {
  const value = p < 0.001 ? 'p < 0.001' : `p = ${Number(p.toPrecision(3))}`;
  return comparisons > 1 ? `${value} after Holm, of ${comparisons} comparisons` : value;
}
