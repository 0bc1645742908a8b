/** @file The rows of an episode as expressions see them: a list of rows for each table. */
import type { Rows } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import type { Scenario, ScenarioTable } from '../records/scenario.ts';
import { type Native, toNative } from './native.ts';

export type Row = Readonly<Record<string, Json>>;

/** Rows are frozen, so the value of a row in an expression never changes. */
const seen = new WeakMap<object, Native>();

export function nativeRow({ fields }: ScenarioTable, row: Row): Native {
  let value = seen.get(row);
  if (value === undefined) {
    value = Object.fromEntries(Object.keys(fields).map((field) => [field, toNative(row[field] ?? null, fields[field]!.type)]));
    if (Object.isFrozen(row)) seen.set(row, value);
  }
  return value;
}

/** The value of `tables`. A table is read when an expression names it. Make a new value after each write. */
export function tablesOf({ tables }: Scenario, rows: Pick<Rows, 'keys' | 'get'>): Native {
  const all = {};
  for (const [name, table] of Object.entries(tables)) {
    let list: Native | undefined;
    Object.defineProperty(all, name, {
      enumerable: true,
      get: () => (list ??= rows.keys(name).map((key) => nativeRow(table, rows.get(name, key) as Row))),
    });
  }
  return all;
}
