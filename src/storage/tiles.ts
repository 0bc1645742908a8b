/**
 * @file Stores the kernel variants that were chosen for an adapter (`src/engine/autotune.ts`). If they are lost, they are measured again in
 * about a second.
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

export const storedTiles = {
  load: async (adapter: string): Promise<unknown> => tiles().get(adapter),
  save: async (adapter: string, choice: object): Promise<unknown> => tiles().put(choice, adapter),
};
