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

const NAMED = /\btables\s*\.\s*([a-z][a-z0-9_]*)|\btables\b/g;
const named = new Map<string, readonly string[] | 'all'>();

/** The tables that an expression names. A name in a text counts too, so the list can be too long, but not too short. */
function tablesIn(cel: string): readonly string[] | 'all' {
  if (!named.has(cel)) {
    const found = [...cel.matchAll(NAMED)].map(([, table]) => table);
    named.set(cel, found.some((table) => table === undefined) ? 'all' : (found as string[]));
  }
  return named.get(cel)!;
}

/**
 * The first condition of a row that is false, in words.
 * @param changed the tables that have changed since all conditions held. Conditions that read none of them are not computed. Default: all
 * @throws InputError if a condition cannot be computed
 */
export function brokenInRow(
  own: ReadScenario,
  rows: State,
  table: string,
  row: Row,
  tables = tablesOf(own.scenario, rows),
  changed?: ReadonlySet<string>,
): string | undefined {
  const definition = own.scenario.tables[table]!;
  const isOwn = !changed || changed.has(table);
  const wrong = isOwn ? wrongValue(own, table, row) : undefined;
  if (wrong) return wrong;
  for (const [field, { ref }] of Object.entries(definition.fields)) {
    const value = row[field];
    if (ref && (isOwn || changed.has(ref)) && typeof value === 'string' && value !== '' && rows.get(ref, value) === undefined)
      return `no ${ref} has the key ${shown(value)}, which the field ${field} of the table ${table} names`;
  }
  for (const [i, { check, text }] of (definition.invariants ?? []).entries()) {
    const read = tablesIn(check);
    const isRead = isOwn || read === 'all' || read.some((name) => changed.has(name));
    if (isRead && !own.cel.true(check, { row: nativeRow(definition, row), tables }, `tables.${table}.invariants[${i}].check`)) return text;
  }
  return undefined;
}

/** The first condition of all rows that is false, in words. @param changed as in `brokenInRow` */
export function broken(own: ReadScenario, rows: State, changed?: ReadonlySet<string>): string | undefined {
  const tables = tablesOf(own.scenario, rows);
  for (const [table, { fields, invariants = [] }] of Object.entries(own.scenario.tables)) {
    const read = [table, ...Object.values(fields).flatMap(({ ref }) => ref ?? []), ...invariants.flatMap(({ check }) => tablesIn(check))];
    if (changed && !read.some((name) => name === 'all' || changed.has(name))) continue;
    for (const key of rows.keys(table)) {
      const fault = brokenInRow(own, rows, table, rows.get(table, key) as Row, tables, changed);
      if (fault) return fault;
    }
  }
  return undefined;
}
