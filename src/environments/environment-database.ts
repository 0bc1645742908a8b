/** @file The Dexie database of the store: base worlds, episodes, changed rows and logs. */
import type { Table } from 'dexie';
import { beginningWith } from '../base/key-range.ts';
import { VersionedDatabase } from '../base/versioned-database.ts';
import type { LogEntry } from './episode-store.ts';
import type { Json } from '../records/json.ts';
import type { RowChange } from '../records/task.ts';
import type { Task } from '../records/task.ts';

interface WorldRow {
  id: string;
  version: number;
  tables: string[];
  usedAt: number;
}
interface BaseRow {
  world: string;
  table: string;
  key: string;
  order: number;
  value: Json;
}
interface EpisodeRow {
  id: string;
  task: Task;
  startedAt: number;
  /** The name of a lock, which the worker that plays the episode holds. Absent if the browser has no Web Locks. */
  owner?: string;
}
interface ChangeRow {
  episode: string;
  table: string;
  key: string;
  value: Json;
  deleted: boolean;
  call: number;
}

export class EnvironmentDatabase extends VersionedDatabase {
  declare worlds: Table<WorldRow, string>;
  declare rows: Table<BaseRow, [string, string, string]>;
  declare episodes: Table<EpisodeRow, string>;
  declare changes: Table<ChangeRow, [string, string, string]>;
  declare log: Table<LogEntry, [string, number]>;

  constructor(name: string) {
    const stores = {
      worlds: 'id, usedAt',
      // All queries are ranges of these compound keys. With fewer indices, writes are faster.
      rows: '[world+table+key]',
      episodes: 'id, startedAt',
      changes: '[episode+table+key]',
      log: '[episode+index]',
    };
    // Episodes are short, so losing the last ones in a power cut is better than waiting for the disk. No query is observed, so the
    // cache is not needed.
    super(name, 3, stores, { chromeTransactionDurability: 'relaxed', cache: 'disabled' });
  }

  changesOf(episode: string) {
    return beginningWith(this.changes, episode);
  }

  logOf(episode: string) {
    return beginningWith(this.log, episode);
  }

  rowsOf(world: string) {
    return beginningWith(this.rows, world);
  }
}

export function changeRow(episode: string, { table, key, after, call }: RowChange): ChangeRow {
  return { episode, table, key, value: after, deleted: after === null, call };
}
