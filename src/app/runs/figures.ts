/** @file The figures of the runs in a list. A figure is read when the list first asks for it, and again when the rows of its run change. */
import type { Library } from '../library/library.ts';
import type { RunSummary } from '../library/run-summary.ts';
import { LiveQuery } from '../kit/live-query.svelte.ts';

export class Figures {
  readonly #library: Pick<Library, 'source'>;
  readonly #summaries = new Map<string, LiveQuery<RunSummary>>();
  readonly #sizes = new Map<string, LiveQuery<number>>();

  constructor(library: Pick<Library, 'source'>) {
    this.#library = library;
  }

  /** The summary of a run; undefined until it is read. */
  summary(run: string): RunSummary | undefined {
    return this.#kept(this.#summaries, run, () => this.#library.source(run).summary(run)).current;
  }

  /** The estimated size of a run in the browser's storage, in bytes; undefined until it is estimated. */
  bytes(run: string): number | undefined {
    return this.#kept(this.#sizes, run, () => this.#library.source(run).bytes(run)).current;
  }

  #kept<T>(queries: Map<string, LiveQuery<T>>, run: string, read: () => Promise<T>): LiveQuery<T> {
    let query = queries.get(run);
    if (!query) queries.set(run, (query = new LiveQuery(read)));
    return query;
  }
}
