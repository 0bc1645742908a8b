/** @file Which fields of a world's tables refer to rows of other tables. Read from the rows, because a world has no schema. */
import type { WorldTables } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import type { Range, Reference, TableRelations } from './types.ts';

/** The share of a field's values that must be keys of the other table. */
const ENOUGH = 0.95;
/** The number of rows that decide which other fields are listed. */
const SAMPLE = 50;

type Rows = ReadonlyMap<string, Json>;
/** The values of a field by the key of the row. */
type Values = ReadonlyMap<string, readonly string[]>;

/** All tables but the settings, each with its key, its references and its other fields. */
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
          // A row does not refer to itself: that is a second name of its key.
          .filter(([to]) => to !== name || !isKey([field, values]))
          .flatMap(([to, others]) => referenceTo(to, others, field, values, rows.size) ?? []);
        // Tables can share keys: then the table that the field names.
        return found.find(({ to }) => isNamed(field, to)) ?? found[0] ?? [];
      });
    const used = new Set([key, ...references.map(({ field }) => field.split(/[.[]/)[0]!)]);
    const all = new Set([...rows.values()].slice(0, SAMPLE).flatMap((row) => (isObject(row) ? Object.keys(row) : [])));
    return { name, count: rows.size, key, references, others: [...all].filter((field) => !used.has(field)) };
  });
}

/** The reference of a field to the table `to`, or null if too few of its values are keys there. */
function referenceTo(to: string, others: Rows, field: string, values: Values, rows: number): Reference | null {
  const distinct = new Set([...values.values()].flat());
  const known = [...distinct].filter((value) => others.has(value));
  if (known.length === 0 || known.length < ENOUGH * distinct.size) return null;
  // A few small numbers or a single value are equal to keys by chance. Then the field must also name the table.
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

/** The range of counts for some of `all` things; the others count 0. */
const range = (counts: readonly number[], all: number): Range => ({
  least: counts.length < all ? 0 : counts.reduce((a, b) => Math.min(a, b)),
  most: counts.reduce((a, b) => Math.max(a, b), 0),
});

/** Whether the field has the name of the table: `user_id` of `users`, `items[].category` of `categories`. */
function isNamed(field: string, table: string): boolean {
  const one = table.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '');
  return field.toLowerCase().replaceAll('ies', 'y').includes(one);
}

/** The texts and whole numbers in the rows by field, such as `user_id` or `items[].product_id`. */
function fieldsOf(rows: Rows): Map<string, Map<string, string[]>> {
  const fields = new Map<string, Map<string, string[]>>();
  function read(row: string, path: string, value: Json): void {
    if (Array.isArray(value)) for (const one of value) read(row, `${path}[]`, one);
    else if (isObject(value))
      // A key with a digit is an id or a date, not the name of a field.
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
