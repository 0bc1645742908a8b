/** @file Runs a call of a scenario's tool: checks, values, writes, invariants, result. */
import { unknownName } from '../base/did-you-mean.ts';
import { InputError, shown } from '../base/input-error.ts';
import type { Rows } from '../environments/overlay.ts';
import type { ExactResult } from '../environments/types.ts';
import type { Json } from '../records/json.ts';
import type { ScenarioTool, ScenarioWrite } from '../records/scenario.ts';
import type { ToolCall } from '../records/task.ts';
import { wrongArgument } from './arguments.ts';
import type { Scope } from './cel.ts';
import { broken } from './invariants.ts';
import { reaches } from './levels.ts';
import { type Native, toNative } from './native.ts';
import type { ReadScenario } from './read.ts';
import { type Row, tablesOf } from './state.ts';
import { fill } from './templates.ts';

const MOST_ROWS = 1000;
/** The most rows that `each` writes in a call. */
const MOST_EACH = 100;

export const toolsAt = ({ scenario: { levels, tools } }: ReadScenario, level: string): readonly ScenarioTool[] =>
  tools.filter(({ from }) => reaches(levels, from, level));

const refusal = (text: string): ExactResult => ({ text: `Error: ${text}`, error: true });

/**
 * Runs a call. An error result may leave writes in `rows`, which the environment drops.
 * @throws InputError if the file is wrong: an expression fails, or a write does not fit the tables
 */
export function execute(own: ReadScenario, rows: Rows, call: ToolCall, level: string): ExactResult {
  const tools = toolsAt(own, level);
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool)
    return refusal(
      unknownName(
        'tool',
        call.name.slice(0, 80),
        tools.map(({ name }) => name),
      ),
    );
  const wrong = wrongArgument(tool, call.arguments);
  if (wrong) return refusal(wrong);
  const path = `tools[${own.scenario.tools.indexOf(tool)}]`;
  const args = Object.fromEntries(
    Object.entries(tool.parameters).map(([name, { type }]) => [name, toNative(call.arguments[name] ?? null, type)]),
  );
  let scope: Scope = { args, tables: tablesOf(own.scenario, rows) };
  for (const [i, { check, error }] of (tool.requires ?? []).entries())
    if (!own.cel.true(check, scope, `${path}.requires[${i}].check`)) return refusal(fill(error, call.arguments));
  for (const [name, cel] of Object.entries(tool.values ?? {}))
    scope = { ...scope, [name]: own.cel.native(cel, scope, `${path}.values.${name}`) };
  for (const [i, write] of (tool.writes ?? []).entries()) {
    runWrite(own, rows, write, scope, `${path}.writes[${i}]`);
    scope = { ...scope, tables: tablesOf(own.scenario, rows) };
  }
  const fault = tool.writes?.length ? broken(own, rows) : undefined;
  if (fault) return refusal(fault);
  const result = own.cel.json(tool.result, scope, `${path}.result`);
  return { text: typeof result === 'string' ? result : JSON.stringify(result), error: false };
}

/** Runs a write, for each entry of `each` in turn. A later entry sees the rows of the earlier ones. */
function runWrite(own: ReadScenario, rows: Rows, write: ScenarioWrite, scope: Scope, path: string): void {
  const { table, each } = write;
  const fail = (reason: string): never => {
    throw new InputError(`${own.file}: ${path}: ${reason}`);
  };
  if (each === undefined) return writeOne(scope);
  const list = own.cel.native(each, scope, `${path}.each`);
  if (!Array.isArray(list)) return fail('each is no list');
  if (list.length > MOST_EACH) return fail(`each has ${list.length} entries: expected at most ${MOST_EACH}`);
  for (const it of list as readonly Native[]) writeOne({ ...scope, it, tables: tablesOf(own.scenario, rows) });

  function writeOne(at: Scope): void {
    const { key, fields } = own.scenario.tables[table]!;
    const compute = (values: Readonly<Record<string, string>>, part: string): Record<string, Json> =>
      Object.fromEntries(Object.entries(values).map(([field, cel]) => [field, own.cel.json(cel, at, `${path}.${part}.${field}`)]));
    if ('insert' in write) {
      const empty = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
      const row: Row = { ...empty, ...compute(write.insert, 'insert') };
      const id = row[key];
      if (typeof id !== 'string' || id === '') return fail(`the key ${key} is ${shown(id)}: expected a text`);
      if (rows.get(table, id) !== undefined) return fail(`a row of ${table} has the key ${shown(id)} already`);
      rows.put(table, id, row as Json);
      if (rows.keys(table).length > MOST_ROWS) fail(`${table} has more than ${MOST_ROWS} rows`);
      return;
    }
    const id = 'update' in write ? own.cel.json(write.update, at, `${path}.update`) : own.cel.json(write.delete, at, `${path}.delete`);
    const old = typeof id === 'string' ? rows.get(table, id) : undefined;
    if (typeof id !== 'string' || old === undefined) return fail(`the key is ${shown(id)}: expected one of the table ${table}`);
    if ('update' in write) rows.put(table, id, { ...(old as Row), ...compute(write.set, 'set') });
    else rows.delete(table, id);
  }
}
