/**
 * @file The part of a long list that a table shows: the number of rows, the selected row, and the visible rows. The worlds worker has the
 * list.
 */
import { Resource } from '../kit/resource.svelte.ts';
import { Blocks } from '../kit/blocks.ts';
import type { Found } from '../../worlds/types.ts';

interface ListRequest<Row> {
  /** Lists with the same key have the same rows; only the selected row may differ. */
  key: string;
  find: () => Promise<Found>;
  /** Loads the rows from `from` up to, but without, `to`. */
  load: (from: number, to: number) => Promise<readonly Row[]>;
}

export class Listing<Row> {
  readonly #found: Resource<ListRequest<Row>, Found & { key: string; blocks: Blocks<Row> }>;
  #version = $state(0);
  /** The error of a failed load of rows; null if no load failed. */
  #problem = $state.raw<Error | null>(null);

  /** @param request returns the list to show. When it changes, the old list stays until the new list is found. */
  constructor(request: () => ListRequest<Row>) {
    this.#found = new Resource(request, async ({ key, find, load }) => {
      const found = await find();
      const before = this.#found.current;
      const blocks = before?.key === key ? before.blocks : new Blocks(load, (error) => this.#changed(error));
      this.#problem = null;
      return { ...found, key, blocks };
    });
  }

  get error(): Error | null {
    return this.#found.error ?? this.#problem;
  }

  /** The key of the list that is shown; null until the first list is found. */
  get key(): string | null {
    return this.#found.current?.key ?? null;
  }

  get total(): number {
    return this.#found.current?.total ?? 0;
  }

  /** The index of the selected row; null if no row is selected. */
  get at(): number | null {
    return this.#found.current?.at ?? null;
  }

  row = (index: number): Row | undefined => {
    void this.#version;
    return this.#found.current?.blocks.get(index);
  };

  need = (first: number, last: number): void => this.#found.current?.blocks.need(first, Math.min(last, this.total));

  #changed(error?: Error): void {
    this.#version += 1;
    if (error) this.#problem = error;
  }
}
