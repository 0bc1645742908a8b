/** @file Seeded draws for generated tasks. */
import { hash32 } from '../../../base/random.ts';

export class Draw {
  readonly #keys: number[];
  #count = 0;

  /** @param keys the same keys give the same draws */
  constructor(...keys: number[]) {
    this.#keys = keys;
  }

  /** From `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + (hash32(...this.#keys, this.#count++) % (most - least + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!;
  }

  /** `count` different elements. */
  some<T>(list: readonly T[], count: number): T[] {
    const left = [...list];
    return Array.from({ length: count }, () => left.splice(this.int(0, left.length - 1), 1)[0]!);
  }
}
