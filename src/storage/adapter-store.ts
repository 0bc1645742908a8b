/**
 * @file Stores what was measured on an adapter: the kernel variants that were chosen (`src/engine/autotune.ts`), and that it passed the
 * self-test (`src/engine/first-contact.ts`). If this is lost, it is measured again in a few seconds.
 */
import type { Table } from 'dexie';
import { VersionedDatabase } from '../base/versioned-database.ts';

class TileDatabase extends VersionedDatabase {
  declare tiles: Table<unknown, string>;

  constructor() {
    super('mua-tiles', 1, { tiles: '' });
  }
}

let database: TileDatabase | undefined;
const tiles = () => (database ??= new TileDatabase()).tiles;

export const adapterStore = {
  load: async (key: string): Promise<unknown> => tiles().get(key),
  save: async (key: string, value: object): Promise<unknown> => tiles().put(value, key),
};
