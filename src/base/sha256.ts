/**
 * @file Synchronous SHA-256 (FIPS 180-4). `crypto.subtle` is asynchronous, and an IndexedDB transaction ends if its code awaits anything
 * but IndexedDB. `crypto.subtle` is also absent outside secure contexts.
 */

/** The standard's constants: the first 32 bits of the fractional part of `root(p)` for the first `count` primes p. */
function primeRootBits(count: number, root: (p: number) => number): Uint32Array {
  const bits: number[] = [];
  for (let n = 2; bits.length < count; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) bits.push(((root(n) % 1) * 2 ** 32) >>> 0);
  }
  return Uint32Array.from(bits);
}

const ROUND = primeRootBits(64, Math.cbrt);
const INITIAL = primeRootBits(8, Math.sqrt);
const rotate = (x: number, n: number) => (x >>> n) | (x << (32 - n));

/** SHA-256 of bytes, or of a text in UTF-8. Returns lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  const message = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const bytes = new Uint8Array((message.length + 9 + 63) & ~63);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(bytes.length - 4, message.length * 8);
  const state = INITIAL.slice();
  const w = new Uint32Array(64);
  for (let block = 0; block < bytes.length; block += 64) {
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(block + 4 * t);
    for (let t = 16; t < 64; t++) {
      const x = w[t - 15]!,
        y = w[t - 2]!;
      w[t] = w[t - 16]! + (rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)) + w[t - 7]! + (rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let t = 0; t < 64; t++) {
      const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[t]! + w[t]!) | 0;
      const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i]! += value));
  }
  return Array.from(state, (value) => value.toString(16).padStart(8, '0')).join('');
}

/** SHA-256 in hex, for large files. It uses the faster `crypto.subtle` where that exists. */
export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!globalThis.crypto?.subtle) return sha256(bytes);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
