/** @file Counter-based random numbers. A number depends only on its keys, so a resumed run needs no stored state. */

/** Hashes the keys to a u32. Applies murmur3's finaliser to each key in turn. */
export function hash32(...keys: number[]): number {
  let h = 0x9e3779b9;
  for (const key of keys) {
    h = Math.imul(h ^ (key >>> 0), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    h = (h ^ (h >>> 16)) + 0x6d2b79f5;
  }
  return h >>> 0;
}

/** A random permutation of 0…n−1 (Fisher–Yates). It depends only on `n`, `seed` and `epoch`. */
export function permutation(n: number, seed: number, epoch: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = hash32(seed, epoch, i) % (i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
