/**
 * @file A Dexie database with one layout version. The app refuses a database with an older version. It only reads a database with a newer
 * version, which a newer app may have written earlier or in another tab. Dexie itself would open such a database for writing, and would
 * patch tables that differ.
 */
import { Dexie, type DBCoreMutateRequest, type DexieOptions } from 'dexie';

/** The version number that IndexedDB stores: Dexie multiplies its versions by ten. */
const native = (version: number) => version * 10;

class NewerDatabaseError extends Error {
  override name = 'NewerDatabaseError';

  constructor() {
    super('a newer version of the playground has written the storage of this browser: reload the page to use that version');
  }
}

class OlderDatabaseError extends Error {
  override name = 'OlderDatabaseError';

  constructor() {
    super(
      'an earlier version of the playground has written the storage of this browser: delete the data of this site in the settings of the browser',
    );
  }
}

export class VersionedDatabase extends Dexie {
  /** Whether the open database is newer than the app. Then every write fails with NewerDatabaseError. */
  isNewer = false;

  /**
   * @param version the version of the layout, as in Dexie's `version()`
   * @param stores the layout: the primary key and the indices of each table, in Dexie's notation
   */
  constructor(name: string, version: number, stores: Record<string, string>, options: DexieOptions = {}) {
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
    this.version(version)
      .stores(stores)
      .upgrade(() => {
        throw new OlderDatabaseError();
      });
  }
}

/** The browser's `indexedDB`, which refuses to open a version above `newest`: Dexie asks for such a version only to patch tables. */
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
