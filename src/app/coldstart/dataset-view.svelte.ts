/** @file The state of a dataset's page: its conversations, which ones are shown, and which are rejected. */
import type { DatasetConversationRow } from '../../records/dataset.ts';
import type { Datasets } from '../library/datasets.ts';
import { type DatasetQuery, filterDataset, type Filtered } from './dataset-filter.ts';

type Storage = Pick<Datasets, 'conversations' | 'reject'>;

export class DatasetView {
  rows = $state.raw<readonly DatasetConversationRow[]>([]);
  loaded = $state(false);
  error = $state.raw<Error | null>(null);
  /** The rows that the address asks for. */
  readonly filtered: Filtered = $derived.by(() => filterDataset(this.rows, this.#query()));
  readonly kept = $derived.by(() => this.rows.filter(({ rejected }) => !rejected).length);

  readonly #storage: Storage;
  readonly #query: () => DatasetQuery;

  /** @param query returns the address's query; the rows follow its changes */
  constructor(storage: Storage, dataset: string, query: () => DatasetQuery) {
    this.#storage = storage;
    this.#query = query;
    void this.#load(dataset);
  }

  async #load(dataset: string): Promise<void> {
    await this.#try(async () => (this.rows = await this.#storage.conversations(dataset)));
    this.loaded = true;
  }

  row(index: number): DatasetConversationRow | undefined {
    return this.rows[index]?.index === index ? this.rows[index] : this.rows.find((row) => row.index === index);
  }

  /** Rejects rows, or restores them. Changes the storage first, and the page afterwards. */
  async setRejected(rows: readonly DatasetConversationRow[], rejected: boolean): Promise<void> {
    const changed = new Set(rows.filter((row) => (row.rejected ?? false) !== rejected).map(({ index }) => index));
    const marked = this.rows.filter(({ index }) => changed.has(index));
    await this.#try(async () => {
      await this.#storage.reject(marked, rejected);
      this.rows = this.rows.map((row) => {
        if (!changed.has(row.index)) return row;
        const { rejected: _, ...rest } = row;
        return rejected ? { ...rest, rejected } : rest;
      });
    });
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.error = null;
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
  }
}
