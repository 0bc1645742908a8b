/**
 * @file Makes the worlds of a scenario. A world depends only on the file and on its id, `<domain>/<level>/<split>/<seed>/w<number>`. Rows that
 * break a condition are drawn again.
 */
import { InputError } from '../base/input-error.ts';
import { Dice } from '../base/dice.ts';
import { freezeJson } from '../base/json.ts';
import type { WorldTables } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import { isSplit, type Split } from '../records/task.ts';
import { drawValue } from './draw.ts';
import { broken, brokenInRow } from './invariants.ts';
import { type Native, toNative } from './native.ts';
import type { ReadScenario } from './read.ts';
import { type Row, tablesOf } from './state.ts';

export const TASKS_PER_WORLD = 32;
const MOST_ROWS_DRAWN = 200;
const MOST_WORLDS_DRAWN = 20;

export interface WorldKey {
  level: string;
  split: Split;
  seed: number;
  number: number;
}

export const worldId = (name: string, { level, split, seed, number }: WorldKey): string => `${name}/${level}/${split}/${seed}/w${number}`;

/** @throws if the id is not one of a world of the scenario */
export function parseWorldId({ domain: name, scenario: { levels } }: ReadScenario, id: string): WorldKey {
  const [own, level, split, seed, number] = id.split('/');
  const whole = /^\d{1,10}$/;
  if (own !== name || !levels.includes(level!) || !isSplit(split) || !whole.test(seed!) || !/^w\d{1,10}$/.test(number!))
    throw new Error(`world: '${id}' is not the id of a world of ${name}`);
  return { level: level!, split, seed: Number(seed), number: Number(number!.slice(1)) };
}

/** The frozen rows of a world. @throws InputError if no world keeps the invariants */
export function makeWorld(own: ReadScenario, key: WorldKey): WorldTables {
  let fault = '';
  for (let attempt = 0; attempt < MOST_WORLDS_DRAWN; attempt++) {
    const world = drawWorld(own, key, attempt);
    if (typeof world === 'string') fault = world;
    else return world;
  }
  throw new InputError(
    `${own.file}: tables: no world of level ${key.level} keeps all conditions after ${MOST_WORLDS_DRAWN} attempts; the last attempt: ${fault}. Ask for fewer rows, or draw more different values`,
  );
}

/** A world, or the condition that it breaks. */
function drawWorld(own: ReadScenario, { level, split, seed, number }: WorldKey, attempt: number): WorldTables | string {
  const { scenario } = own;
  const dice = new Dice('scenario-world', scenario.name, level, split, seed, number, attempt);
  const world: WorldTables = new Map(Object.keys(scenario.tables).map((name) => [name, new Map<string, Json>()]));
  const rows = {
    keys: (table: string) => [...world.get(table)!.keys()],
    get: (table: string, key: string) => world.get(table)!.get(key),
  };
  for (const [table, { key, fields, rows: fixed = [], count = {} }] of Object.entries(scenario.tables)) {
    const put = (row: Row) => world.get(table)!.set(row[key] as string, row as Json);
    for (const row of fixed) put(freezeJson(Object.fromEntries(Object.keys(fields).map((field) => [field, row[field] ?? null]))));
    for (let i = 0; i < (count[level] ?? 0); i++) {
      const row = drawRow(table);
      if (typeof row === 'string') return row;
      put(row);
    }
  }
  return broken(own, rows) ?? world;

  function drawRow(table: string): Row | string {
    const { key, fields } = scenario.tables[table]!;
    const faults: string[] = [];
    for (let again = 0; again < MOST_ROWS_DRAWN; again++) {
      const row: Record<string, Json> = {};
      const native: Record<string, Native> = {};
      const tables = tablesOf(scenario, rows);
      for (const [field, { draw, type }] of Object.entries(fields)) {
        const path = `tables.${table}.fields.${field}.draw`;
        // An expression may name the fields before its own.
        const scope = { row: { ...native }, tables };
        row[field] = draw ? drawValue(draw, { cel: own.cel, dice, split, scope, keys: rows.keys, path }, table) : null;
        native[field] = toNative(row[field], type);
      }
      const inUse = typeof row[key] === 'string' && rows.get(table, row[key]) !== undefined;
      const fault = inUse ? `the key ${row[key]} of the table ${table} is in use` : brokenInRow(own, rows, table, freezeJson(row), tables);
      if (!fault) return row;
      faults.push(fault);
    }
    return mostFrequent(faults);
  }
}

function mostFrequent(texts: readonly string[]): string {
  const times = (one: string) => texts.filter((text) => text === one).length;
  return [...new Set(texts)].reduce((most, one) => (times(one) > times(most) ? one : most));
}
