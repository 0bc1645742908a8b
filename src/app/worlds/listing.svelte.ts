/** @file A long list in the worker as a table shows it: how many rows, which is chosen, and those in sight. */
import { Blocks } from '../logic/blocks.ts';
import type { Found } from './types.ts';

export class Listing<Row> {
  /** Null until the worker has answered once. What was found last stays while the next search runs. */
  #shown = $state.raw<(Found & { key: string; blocks: Blocks<Row> }) | null>(null);
  #version = $state(0);
  error = $state.raw<Error | null>(null);
  #asked = 0;

  /**
   * Asks for another list, or for another row of the same.
   * @param key what the list depends on
   */
  async ask(key: string, find: () => Promise<Found>, load: (from: number, to: number) => Promise<readonly Row[]>): Promise<void> {
    const turn = ++this.#asked;
    try {
      const found = await find();
      if (turn !== this.#asked) return;
      const blocks = this.#shown?.key === key ? this.#shown.blocks : new Blocks(load, (error) => this.#changed(error));
      this.error = null;
      this.#shown = { ...found, key, blocks };
    } catch (error) {
      if (turn === this.#asked) this.error = error instanceof Error ? error : new Error(String(error));
    }
  }

  get key(): string | null {
    return this.#shown?.key ?? null;
  }

  get total(): number {
    return this.#shown?.total ?? 0;
  }

  get at(): number | null {
    return this.#shown?.at ?? null;
  }

  row = (index: number): Row | undefined => {
    void this.#version;
    return this.#shown?.blocks.get(index);
  };

  need = (first: number, last: number): void => this.#shown?.blocks.need(first, Math.min(last, this.total));

  #changed(error?: Error): void {
    this.#version += 1;
    if (error) this.error = error;
  }
}
