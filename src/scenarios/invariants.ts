/** @file The conditions that all rows keep: types, references, and the invariants of tables. */
import type { Rows } from '../environments/overlay.ts';
import { shown } from '../base/input-error.ts';
import type { Json } from '../records/json.ts';
import type { ReadScenario } from './read.ts';
import { nativeRow, type Row, tablesOf } from './state.ts';
import { fits, TYPE_WORDS } from './types.ts';

type State = Pick<Rows, 'keys' | 'get'>;

/** What is wrong with the values of a row: a sentence, or undefined. Null is a value of every field but the key. */
function wrongValue({ scenario }: ReadScenario, table: string, row: Row): string | undefined {
  const { fields, key } = scenario.tables[table]!;
  for (const [field, { type }] of Object.entries(fields)) {
    const value: Json = row[field] ?? null;
    if (value === null ? field === key : !fits(value, type))
      return `the field ${field} of the table ${table} is ${shown(value)}: expected ${TYPE_WORDS[type]}`;
  }
  return undefined;
}

/** The first condition of a row that is false, in words. @throws InputError if a condition cannot be computed */
export function brokenInRow(
  own: ReadScenario,
  rows: State,
  table: string,
  row: Row,
  tables = tablesOf(own.scenario, rows),
): string | undefined {
  const definition = own.scenario.tables[table]!;
  const wrong = wrongValue(own, table, row);
  if (wrong) return wrong;
  for (const [field, { ref }] of Object.entries(definition.fields)) {
    const value = row[field];
    if (ref && typeof value === 'string' && value !== '' && rows.get(ref, value) === undefined)
      return `no ${ref} has the key ${shown(value)}, which the field ${field} of the table ${table} names`;
  }
  for (const [i, { check, text }] of (definition.invariants ?? []).entries())
    if (!own.cel.true(check, { row: nativeRow(definition, row), tables }, `tables.${table}.invariants[${i}].check`)) return text;
  return undefined;
}

/** The first condition of all rows that is false, in words. */
export function broken(own: ReadScenario, rows: State): string | undefined {
  const tables = tablesOf(own.scenario, rows);
  for (const table of Object.keys(own.scenario.tables))
    for (const key of rows.keys(table)) {
      const fault = brokenInRow(own, rows, table, rows.get(table, key) as Row, tables);
      if (fault) return fault;
    }
  return undefined;
}
