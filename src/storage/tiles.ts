/** @file Keeps the kernel variants that were measured on an adapter (`src/engine/autotune.ts`). They are no result: losing them costs a second. */
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

export const storedTiles = {
  load: async (adapter: string): Promise<unknown> => tiles().get(adapter),
  save: async (adapter: string, choice: object): Promise<unknown> => tiles().put(choice, adapter),
};
