/**
 * @file Finds the fields of a world's tables that refer to rows of other tables. They are found from the values in the rows,
 * because a world has no schema.
 */
import type { WorldTables } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import type { Range, Reference, TableRelations } from './types.ts';

/** The share of a field's values that must be keys of the other table, for the field to count as a reference. */
const ENOUGH = 0.95;
/** The number of rows from which the list of other fields is made. */
const SAMPLE = 50;

type Rows = ReadonlyMap<string, Json>;
/** The values of a field, by the key of their row. */
type Values = ReadonlyMap<string, readonly string[]>;

/** All tables except for the settings. Each has its key, its references and its other fields. */
export function relations(tables: WorldTables): TableRelations[] {
  const named = [...tables].filter(([name]) => name !== '');
  return named.map(([name, rows]) => {
    const fields = [...fieldsOf(rows)];
    const isKey = ([, values]: [string, Values]) =>
      values.size === rows.size && [...values].every(([key, all]) => all.every((v) => v === key));
    const key = fields.find(isKey)?.[0] ?? null;
    const references = fields
      .filter(([field]) => field !== key)
      .flatMap(([field, values]) => {
        const found = named
          // A field that only repeats the key of its row is not a reference.
          .filter(([to]) => to !== name || !isKey([field, values]))
          .flatMap(([to, others]) => referenceTo(to, others, field, values, rows.size) ?? []);
        // If tables have the same keys, prefer the table whose name is in the field's name.
        return found.find(({ to }) => isNamed(field, to)) ?? found[0] ?? [];
      });
    const used = new Set([key, ...references.map(({ field }) => field.split(/[.[]/)[0]!)]);
    const all = new Set([...rows.values()].slice(0, SAMPLE).flatMap((row) => (isObject(row) ? Object.keys(row) : [])));
    return { name, count: rows.size, key, references, others: [...all].filter((field) => !used.has(field)) };
  });
}

/** The reference of a field to the table `to`. Null if too few of its values are keys of this table. */
function referenceTo(to: string, others: Rows, field: string, values: Values, rows: number): Reference | null {
  const distinct = new Set([...values.values()].flat());
  const known = [...distinct].filter((value) => others.has(value));
  if (known.length === 0 || known.length < ENOUGH * distinct.size) return null;
  // A few small numbers or a single value can equal keys by chance. In this case the field's name must also contain the table's
  // name.
  if ((known.length === 1 || known.every((value) => /^\d{1,4}$/.test(value))) && !isNamed(field, to)) return null;
  const named = new Map<string, number>();
  for (const all of values.values()) for (const value of new Set(all)) if (others.has(value)) named.set(value, (named.get(value) ?? 0) + 1);
  const each = [...values.values()].map((all) => new Set(all).size);
  return {
    field,
    to,
    names: range(each, rows),
    namedBy: range([...named.values()], others.size),
    missing: distinct.size - known.length,
  };
}

/** The range of the counts of `all` things. Things that have no count in `counts` count 0. */
const range = (counts: readonly number[], all: number): Range => ({
  least: counts.length < all ? 0 : counts.reduce((a, b) => Math.min(a, b)),
  most: counts.reduce((a, b) => Math.max(a, b), 0),
});

/** Whether the name of a field contains the name of a table: `user_id` and `users`, `items[].category` and `categories`. */
function isNamed(field: string, table: string): boolean {
  const one = table.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '');
  return field.toLowerCase().replaceAll('ies', 'y').includes(one);
}

/** For each field, such as `user_id` or `items[].product_id`: the texts and whole numbers in the rows. */
function fieldsOf(rows: Rows): Map<string, Map<string, string[]>> {
  const fields = new Map<string, Map<string, string[]>>();
  function read(row: string, path: string, value: Json): void {
    if (Array.isArray(value)) for (const one of value) read(row, `${path}[]`, one);
    else if (isObject(value))
      // A key that contains a digit is an id or a date, not the name of a field.
      for (const [name, one] of Object.entries(value)) read(row, `${path}${path && '.'}${/\d/.test(name) ? '*' : name}`, one);
    else if ((typeof value === 'string' && value !== '') || Number.isInteger(value)) {
      const values = fields.get(path) ?? new Map<string, string[]>();
      fields.set(path, values);
      const own = values.get(row);
      if (own) own.push(String(value));
      else values.set(row, [String(value)]);
    }
  }
  for (const [key, row] of rows) if (isObject(row)) read(key, '', row);
  return fields;
}

const isObject = (value: Json): value is { [name: string]: Json } => value !== null && typeof value === 'object' && !Array.isArray(value);
