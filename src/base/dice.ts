/** @file Seeded random choices for the task generators. */
import { hash32 } from './random.ts';

/** The FNV-1a hash of a text. It makes the text usable as a key of the counter-based generator. */
function textKey(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** A random generator. Each draw depends only on the keys and on the number of earlier draws. */
export class Dice {
  private readonly key: number;
  private draws = 0;

  constructor(...keys: (string | number)[]) {
    this.key = hash32(...keys.map((key) => (typeof key === 'string' ? textKey(key) : key)));
  }

  /** A uniform number in [0, 1). */
  unit(): number {
    return hash32(this.key, this.draws++) / 2 ** 32;
  }

  /** An integer in [low, high]. */
  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (!list.length) throw new Error('pick: the list is empty');
    return list[this.int(0, list.length - 1)]!;
  }

  /** Draws a name by weight. The weights need not sum to 1. */
  weighted<K extends string>(weights: Partial<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let at = this.unit() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) if ((at -= weight) < 0) return name;
    return entries.at(-1)![0];
  }

  /** `count` different entries in random order. */
  sample<T>(list: readonly T[], count: number): T[] {
    const pool = [...list];
    for (let i = 0; i < count; i++) {
      const j = this.int(i, pool.length - 1);
      [pool[i], pool[j]] = [pool[j]!, pool[i]!];
    }
    return pool.slice(0, count);
  }
}
