/** @file Checks and loads the databases of tau-bench and tau2-bench. The readers of the domain check the records. */
import { orderedEntries } from '../../domains/exact/ordered-json.ts';
import type { ExactDomain } from '../../domains/exact/types.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import type { ImportLimits } from '../../exchange/file-source.ts';
import { ImportError } from '../../exchange/import-error.ts';
import type { Json } from '../../records/json.ts';

/** @throws {ImportError} if a table has too many rows. `base` is the path of the table in its file. */
export function checkSize(records: Json, limits: ImportLimits, file: string, base: string): void {
  const size = records !== null && typeof records === 'object' ? Object.keys(records).length : 0;
  if (size > limits.rows) throw new ImportError(file, base, `the table has ${size} rows: at most ${limits.rows} are allowed`);
}

/** The records of a table, by id. @throws {ImportError} */
export function recordsOf(file: string, records: Json): [string, Json][] {
  try {
    return orderedEntries(records, '');
  } catch {
    throw new ImportError(file, '', 'expected an object of records by id');
  }
}

/**
 * Converts databases to rows. An error message of the domain's readers begins with the path of the problem, such as `retail:
 * orders.#W1.status`.
 * @param place returns the file of a problem, and its path in this file
 * @throws {ImportError}
 */
export function loadRows(
  domain: ExactDomain,
  database: Json,
  userDatabase: Json | undefined,
  place: (path: string, table: string, ofUser: boolean) => [file: string, path: string],
): WorldTables {
  try {
    return domain.load(database, userDatabase);
  } catch (cause) {
    const { message } = cause as Error;
    const [, rest = message] = /^(?:\w+: |user_db\.|db\.)(.*)$/.exec(message) ?? [];
    const [, path = '', reason = rest] = /^(\S+?):? (.*)$/.exec(rest) ?? [];
    const table = path.split('.')[0]!;
    const ofUser = message.startsWith('user_db') || (!Object.hasOwn(database as object, table) && userDatabase !== undefined);
    throw new ImportError(...place(path, table, ofUser), reason);
  }
}

/** The domain with this name, which must exist. */
export const exactNamed = (domains: readonly ExactDomain[], name: string): ExactDomain => domains.find((domain) => domain.name === name)!;
