/** @file The tables of an open world, in the form that the World views show. */
import type { WorldTables } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import { cellText, columnsOf } from './row-text.ts';
import type { TableInfo, TableRow } from './types.ts';

/** The largest number of columns that a list of rows shows. */
const COLUMNS = 6;
/** The number of rows from which the columns are chosen. */
const SAMPLE = 50;
/** The name under which the table `''` is shown. Its rows belong to no table of records. */
const SETTINGS = 'settings';

export const rowCounts = (tables: WorldTables) =>
  [...tables].filter(([name]) => name !== '').map(([table, rows]) => ({ table, count: rows.size }));

/** All tables. The settings come last, and are omitted if they are empty. */
export const tableInfos = (tables: WorldTables): TableInfo[] =>
  [...tables]
    .filter(([name, rows]) => name !== '' || rows.size > 0)
    .sort(([a], [b]) => Number(a === '') - Number(b === ''))
    .map(([name, rows]) => ({ name: name || SETTINGS, count: rows.size, columns: columns(rows) }));

/** @throws if the table does not exist */
export function tableOf(tables: WorldTables, name: string): ReadonlyMap<string, Json> {
  const rows = tables.get(name) ?? (name === SETTINGS ? tables.get('') : undefined);
  if (!rows)
    throw new Error(
      `table: there is no '${name}' in this world; it has ${[...tables.keys()].map((table) => table || SETTINGS).join(', ')}`,
    );
  return rows;
}

/** The rows with these keys. */
export function tableRows(rows: ReadonlyMap<string, Json>, keys: readonly string[]): TableRow[] {
  const names = columns(rows);
  return keys.map((key) => {
    const row = rows.get(key)!;
    const fields = row !== null && typeof row === 'object' && !Array.isArray(row) ? row : {};
    return {
      key,
      cells: Object.fromEntries(names.map((name) => [name, cellText(Object.hasOwn(fields, name) ? fields[name] : undefined)])),
    };
  });
}

export function firstRows(rows: ReadonlyMap<string, Json>, most: number): [string, Json][] {
  const found: [string, Json][] = [];
  for (const entry of rows) {
    found.push(entry);
    if (found.length === most) break;
  }
  return found;
}

const columns = (rows: ReadonlyMap<string, Json>) => columnsOf(firstRows(rows, SAMPLE), COLUMNS);
