/** @file Which rows and fields a call may change, as far as the scenario file says it. The other values are the answerer's. */
import { Overlay } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { ScenarioWrite } from '../../records/scenario.ts';
import type { Scope } from '../cel.ts';
import { argumentsOf } from '../execute.ts';
import type { Native } from '../native.ts';
import { tablesOf } from '../state.ts';
import type { Asked } from './types.ts';

export interface NamedWrite {
  table: string;
  key: string;
  kind: 'insert' | 'update' | 'delete';
  /** The fields that it sets. */
  fields: readonly string[];
  /** The values that are arguments of the call. */
  given: Readonly<Record<string, Json>>;
}

/** The fields that a declared write sets, with their expressions. */
export const setOf = (write: ScenarioWrite): Readonly<Record<string, string>> =>
  'insert' in write ? write.insert : 'set' in write ? write.set : {};

/** The argument that an expression is, without any change of it. */
export const argumentIn = (cel: string): string | undefined => /^args\.([a-z][a-z0-9_]*)$/.exec(cel.trim())?.[1];

/** The writes that the call names. Null if the call names no row that exists, so that a right answer is an error. */
export function namedWrites({ own, tool, call, rows }: Pick<Asked, 'own' | 'tool' | 'call' | 'rows'>): NamedWrite[] | null {
  const { scenario, cel } = own;
  // Inserted keys take their places here, so that the next key of a table is another one.
  const draft = new Overlay(rows);
  const named: NamedWrite[] = [];
  let scope: Scope = { args: argumentsOf(tool, call), tables: tablesOf(scenario, draft) };
  try {
    for (const [name, value] of Object.entries(tool.values ?? {})) scope = { ...scope, [name]: cel.native(value, scope, name) };
    for (const write of tool.writes ?? []) {
      const list = write.each === undefined ? [undefined] : (cel.native(write.each, scope, 'each') as readonly Native[]);
      for (const it of list) one(write, { ...scope, tables: tablesOf(scenario, draft), ...(it !== undefined && { it }) });
      scope = { ...scope, tables: tablesOf(scenario, draft) };
    }
  } catch {
    return null;
  }
  return named;

  function one(write: ScenarioWrite, at: Scope): void {
    const { table } = write;
    const id = scenario.tables[table]!.key;
    const kind = 'insert' in write ? 'insert' : 'update' in write ? 'update' : 'delete';
    const set = setOf(write);
    const key = cel.json('insert' in write ? write.insert[id]! : 'update' in write ? write.update : write.delete, at, kind) as string;
    if (kind !== 'insert' && draft.get(table, key) === undefined) throw new Error('no row');
    const given: Record<string, Json> = {};
    for (const [field, value] of Object.entries(set)) {
      const name = argumentIn(value);
      if (name !== undefined) given[field] = call.arguments[name] ?? null;
    }
    if (kind === 'insert') draft.put(table, key, { [id]: key });
    if (kind === 'delete') draft.delete(table, key);
    const earlier = named.findIndex((other) => other.table === table && other.key === key);
    const both = { table, key, kind, fields: Object.keys(set), given } as const;
    if (earlier < 0) return void named.push(both);
    // A row that is written twice is changed once in a proposal.
    const first = named[earlier]!;
    const kept = Object.fromEntries(Object.entries(first.given).filter(([field]) => !Object.hasOwn(set, field)));
    named[earlier] = { ...first, fields: [...first.fields, ...both.fields], given: { ...kept, ...given } };
  }
}
