/**
 * @file Stores what was measured on an adapter: the kernel variants that were chosen (`src/engine/autotune.ts`), that it passed the
 * self-test (`src/engine/first-contact.ts`), and its speeds (`src/bench/rates.ts`). If this is lost, it is measured again in a few seconds.
 */
import type { Table } from 'dexie';
import { VersionedDatabase } from '../base/versioned-database.ts';

class AdapterDatabase extends VersionedDatabase {
  declare tiles: Table<unknown, string>;

  constructor() {
    // The names are those of its first content, because a browser would lose the values under other names.
    super('mua-tiles', 1, { tiles: '' });
  }
}

let database: AdapterDatabase | undefined;
const measured = () => (database ??= new AdapterDatabase()).tiles;

export const adapterStore = {
  load: async (key: string): Promise<unknown> => measured().get(key),
  save: async (key: string, value: object): Promise<unknown> => measured().put(value, key),
};
