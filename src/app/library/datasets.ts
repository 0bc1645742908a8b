/** @file The stored datasets of demonstrations. */
import { beginningWith } from '../../base/key-range.ts';
import type { DatasetConversationRow, DatasetRow } from '../../records/dataset.ts';
import type { RunDatabase } from '../../storage/database.ts';
import type { ReadDataset } from '../../training/dataset.ts';

export class Datasets {
  readonly #db: RunDatabase;

  constructor(db: RunDatabase) {
    this.#db = db;
  }

  /** All datasets, the newest first. */
  list(): Promise<DatasetRow[]> {
    return this.#db.datasets.orderBy('createdAt').reverse().toArray();
  }

  get(id: string): Promise<DatasetRow | undefined> {
    return this.#db.datasets.get(id);
  }

  /** All conversations of a dataset in their order, including the rejected ones. */
  conversations(id: string): Promise<DatasetConversationRow[]> {
    return beginningWith(this.#db.datasetConversations, id).toArray();
  }

  /** Stores the conversations of a file. */
  async import(name: string, read: ReadDataset): Promise<DatasetRow> {
    return (await import('./dataset-rows.ts')).importDataset(this.#db, name, read);
  }

  /** Marks conversations as rejected, or removes this mark. */
  async reject(rows: readonly Pick<DatasetConversationRow, 'dataset' | 'index'>[], rejected: boolean): Promise<void> {
    const changes = { rejected: rejected || undefined } as { rejected?: true };
    await this.#db.datasetConversations.bulkUpdate(rows.map(({ dataset, index }) => ({ key: [dataset, index], changes })));
  }

  /** Deletes a dataset with its conversations and their reviews. */
  async delete(id: string): Promise<void> {
    await (await import('./reviews.ts')).ownReviews().delete(id);
    const { datasets, datasetConversations } = this.#db;
    await this.#db.transaction('rw', [datasets, datasetConversations], async () => {
      await beginningWith(datasetConversations, id).delete();
      await datasets.delete(id);
    });
  }
}
