/** @file Python's `random.Random`, the Mersenne Twister MT19937 of Matsumoto and Nishimura (1998). */
import { absolute, bitLength } from './operations.ts';

const N = 624;
const M = 397;

/** A stream of random numbers. It equals CPython's for the same seed. */
export class PyRandom {
  readonly #state = new Uint32Array(N);
  #next = N;
  #seeded = false;

  constructor(private readonly seed: bigint) {}

  /** Seeds with the absolute value of the seed, as `init_by_array` of the reference code. Most streams are never read. */
  #begin(): void {
    const { seed } = this;
    this.#seeded = true;
    const words: number[] = [];
    for (let rest = absolute(seed); rest > 0n || words.length === 0; rest >>= 32n) words.push(Number(rest & 0xffffffffn));
    const state = this.#state;
    state[0] = 19650218;
    for (let i = 1; i < N; i++) state[i] = Math.imul(1812433253, state[i - 1]! ^ (state[i - 1]! >>> 30)) + i;
    let i = 1;
    for (let k = 0; k < Math.max(N, words.length); k++) {
      const j = k % words.length;
      state[i] = (state[i]! ^ Math.imul(state[i - 1]! ^ (state[i - 1]! >>> 30), 1664525)) + words[j]! + j;
      i = this.#after(i);
    }
    for (let k = 0; k < N - 1; k++) {
      state[i] = (state[i]! ^ Math.imul(state[i - 1]! ^ (state[i - 1]! >>> 30), 1566083941)) - i;
      i = this.#after(i);
    }
    state[0] = 0x80000000;
  }

  /** The place after `i`. After the last place, the first value becomes the last one. */
  #after(i: number): number {
    if (i + 1 < N) return i + 1;
    this.#state[0] = this.#state[N - 1]!;
    return 1;
  }

  /** The next 32 bits. */
  #word(): number {
    if (!this.#seeded) this.#begin();
    const state = this.#state;
    if (this.#next === N) {
      for (let i = 0; i < N; i++) {
        const both = (state[i]! & 0x80000000) | (state[(i + 1) % N]! & 0x7fffffff);
        state[i] = state[(i + M) % N]! ^ (both >>> 1) ^ (both & 1 ? 0x9908b0df : 0);
      }
      this.#next = 0;
    }
    let y = state[this.#next++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** `getrandbits(bits)` for at least one bit. The first word has the lowest bits. */
  getrandbits(bits: number): bigint {
    let value = 0n;
    for (let done = 0; done < bits; done += 32)
      value |= BigInt(bits - done < 32 ? this.#word() >>> (32 - (bits - done)) : this.#word()) << BigInt(done);
    return value;
  }

  /** A float in [0, 1). */
  random(): number {
    const [a, b] = [this.#word() >>> 5, this.#word() >>> 6];
    return (a * 67108864 + b) / 9007199254740992;
  }

  uniform(a: number, b: number): number {
    return a + (b - a) * this.random();
  }

  /** An int from `a` to `b`, both included. */
  randint(a: bigint, b: bigint): bigint {
    const width = b - a + 1n;
    const bits = bitLength(width);
    let value = this.getrandbits(bits);
    while (value >= width) value = this.getrandbits(bits);
    return a + value;
  }
}
