/** @file Divides conversations among places, and mixes those of several places. */
import { apportion } from '../base/apportion.ts';
import { hash32 } from '../base/random.ts';

/** The key of the random draws that mix places. */
const MIX = 0x313c;

/** For each share, its number of `count` conversations. @param shares positive numbers */
export function portions(shares: readonly number[], count: number): number[] {
  const all = shares.reduce((sum, share) => sum + share, 0);
  // Twice as much as there is, so that rounding leaves nothing over.
  return apportion(
    shares.map((share) => (2 * count * share) / all),
    count,
  );
}

/**
 * Mixes lists. Those of each list keep their order, so one list stays as it is. The same lists and seed give the same order.
 * @param lists for each place its blocks; a block stays together
 */
export function mixed<T>(lists: readonly (readonly T[])[], seed: number): T[] {
  const left = lists.map((list) => list.length);
  const places: number[] = [];
  for (let all = left.reduce((sum, n) => sum + n, 0); all > 0; all--) {
    let at = hash32(seed, MIX, all) % all;
    const place = left.findIndex((n) => (at -= n) < 0);
    left[place]! -= 1;
    places.push(place);
  }
  const next = lists.map(() => 0);
  return places.map((place) => lists[place]![next[place]!++]!);
}
