/** @file Shares places out among groups. */

/** For each group, its number of places: in the shares of the sizes, and the places that are left to the largest remainders (Hamilton). */
export function apportion(sizes: readonly number[], places: number): number[] {
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const wanted = Math.min(places, all);
  const shares = sizes.map((size) => (all === 0 ? 0 : (wanted * size) / all));
  const found = shares.map(Math.floor);
  const order = shares.map((share, i) => [share - found[i]!, i] as const).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const left = wanted - found.reduce((sum, size) => sum + size, 0);
  for (const [, i] of order.slice(0, left)) found[i]! += 1;
  return found;
}
