/** @file Counter-based randomness: every draw is a function of its key, so that a resumed run needs no RNG state. */

/** A well-mixed u32 of the numbers given (murmur3 finaliser over each in turn). */
export function hash32(...keys: number[]): number {
  let h = 0x9e3779b9;
  for (const key of keys) {
    h = Math.imul(h ^ (key >>> 0), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    h = (h ^ (h >>> 16)) + 0x6d2b79f5;
  }
  return h >>> 0;
}

/** Fisher–Yates permutation of 0…n−1 that depends only on `seed` and `epoch`. */
export function permutation(n: number, seed: number, epoch: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = hash32(seed, epoch, i) % (i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
