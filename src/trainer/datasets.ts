/** @file Datasets of the page: makes them from demonstrations, and reads the conversations that a run trains on. */
import { beginningWith } from '../base/key-range.ts';
import { storageError } from '../base/storage-error.ts';
import type { DatasetConversation, DatasetRow } from '../records/dataset.ts';
import type { RunDatabase } from '../storage/database.ts';
import { coldStart } from '../training/config.ts';
import { synthesize } from '../training/synthesize.ts';
import { customerScripts } from '../domains/registry.ts';
import { ScriptedUsers } from '../users/scripted.ts';
import type { DatasetRequest, Progress } from './messages.ts';
import type { SessionParts } from './session-parts.ts';

export class Datasets {
  readonly #parts: Pick<SessionParts, 'environments' | 'database'>;
  #abort: AbortController | null = null;

  constructor(parts: Pick<SessionParts, 'environments' | 'database'>) {
    this.#parts = parts;
  }

  /** Stores new conversations and returns the dataset's id. If it is cancelled or fails, nothing is stored. */
  async make({ name, options, settings }: DatasetRequest, progress: Progress): Promise<string> {
    if (this.#abort) throw new Error('conversations are being synthesised: cancel that first');
    const people = coldStart(options.domain, options.level, settings);
    const abort = (this.#abort = new AbortController());
    try {
      const { conversations, tried, solved } = await synthesize(
        { environments: this.#parts.environments, users: new ScriptedUsers(customerScripts) },
        { ...options, ...people },
        (kept) => progress(kept, options.count, 'conversations'),
        abort.signal,
      );
      abort.signal.throwIfAborted();
      const row = { id: crypto.randomUUID(), name, createdAt: Date.now(), count: conversations.length };
      await storeDataset(this.#parts.database(), { ...row, made: { ...options, ...people, tried, solved } }, conversations);
      return row.id;
    } finally {
      this.#abort = null;
    }
  }

  cancel(): void {
    this.#abort?.abort(new Error('the synthesis was cancelled'));
  }
}

/** @throws Error with advice if the disk is full; in this case nothing is stored */
export async function storeDataset(db: RunDatabase, row: DatasetRow, conversations: readonly DatasetConversation[]): Promise<void> {
  await db
    .transaction('rw', [db.datasets, db.datasetConversations], async () => {
      await db.datasets.add(row);
      await db.datasetConversations.bulkAdd(conversations.map((conversation, index) => ({ ...conversation, dataset: row.id, index })));
    })
    .catch((cause: unknown) => {
      throw storageError(cause, 'this dataset');
    });
}

/** The conversations of a dataset to train on: those that are not rejected, without near-misses. @throws if there are none */
export async function keptConversations(db: RunDatabase, dataset: string): Promise<DatasetConversation[]> {
  const row = await db.datasets.get(dataset);
  if (!row) throw new Error(`the dataset "${dataset}" is not in this browser's storage`);
  const kept = (await beginningWith(db.datasetConversations, dataset).toArray()).filter(
    ({ rejected, near_miss: spoilt }) => !rejected && !spoilt,
  );
  if (kept.length === 0)
    throw new Error(`all ${row.count} conversations of the dataset "${row.name}" are rejected or near-misses: expected at least one other`);
  return kept;
}
