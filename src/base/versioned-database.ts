/**
 * @file A Dexie database that an older app may only read. A newer version of the app, in another tab or earlier, can have
 * upgraded the database. Dexie alone would open such a database for writing, and would patch tables that differ.
 */
import { Dexie, type DBCoreMutateRequest, type DexieOptions } from 'dexie';

/** Dexie multiplies its versions by ten. */
const native = (version: number) => version * 10;

class NewerDatabaseError extends Error {
  override name = 'NewerDatabaseError';

  constructor() {
    super('a newer version of the playground has written the storage of this browser: reload the page to use that version');
  }
}

export class VersionedDatabase extends Dexie {
  /** Whether the open database is newer than the app. Then every write fails with NewerDatabaseError. */
  isNewer = false;

  /** @param version the newest version that the subclass declares */
  constructor(name: string, version: number, options: DexieOptions = {}) {
    super(name, { ...options, ...(globalThis.indexedDB && { indexedDB: withoutPatches(native(version)) }) });
    this.use({
      stack: 'dbcore',
      name: 'read-only',
      create: (core) => {
        this.isNewer = (this.backendDB() as IDBDatabase).version >= native(version + 1);
        return {
          ...core,
          table: (name_) => {
            const table = core.table(name_);
            const mutate = (request: DBCoreMutateRequest) =>
              this.isNewer ? Promise.reject(new NewerDatabaseError()) : table.mutate(request);
            return { ...table, mutate };
          },
        };
      },
    });
  }
}

/** The browser's factory. Dexie asks for a version above the app's only to patch tables: that request is refused. */
function withoutPatches(newest: number): IDBFactory {
  const { indexedDB } = globalThis;
  return {
    open(name, version) {
      if (version !== undefined && version > newest) throw new DOMException(`version ${version} is above ${newest}`, 'VersionError');
      return version === undefined ? indexedDB.open(name) : indexedDB.open(name, version);
    },
    deleteDatabase: (name) => indexedDB.deleteDatabase(name),
    databases: () => indexedDB.databases(),
    cmp: (first, second) => indexedDB.cmp(first, second),
  };
}
