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

/** The tool of a call. If there is no such tool, or if an argument is wrong: the error in words. */
export function toolOf(own: ReadScenario, { name, arguments: given }: ToolCall, level: string): ScenarioTool | string {
  const tools = toolsAt(own, level);
  const tool = tools.find((one) => one.name === name);
  if (tool) return wrongArgument(tool, given) ?? tool;
  const names = tools.map((one) => one.name);
  return unknownName('tool', name.slice(0, 80), names);
}

/** What the agent sees of an error, and of a result: a text stays as it is. */
export const errorText = (error: string): string => `Error: ${error}`;
export const resultText = (result: Json): string => (typeof result === 'string' ? result : JSON.stringify(result));

/**
 * Runs a call. An error result may leave writes in `rows`, which the environment drops.
 * @throws InputError if the file is wrong: an expression fails, or a write does not fit the tables
 */
export function execute(own: ReadScenario, rows: Rows, call: ToolCall, level: string): ExactResult {
  const tool = toolOf(own, call, level);
  const ran = typeof tool === 'string' ? { error: tool } : runTool(own, rows, tool, call);
  return 'error' in ran ? { text: errorText(ran.error), error: true } : { text: resultText(ran.result), error: false };
}

/** As `execute`, for a tool whose arguments were checked: the result as a value, or the error in words. */
export function runTool(own: ReadScenario, rows: Rows, tool: ScenarioTool, call: ToolCall): { result: Json } | { error: string } {
  const path = pathOf(own, tool);
  const begun = beginTool(own, rows, tool, call);
  if ('error' in begun) return begun;
  let { scope } = begun;
  for (const [i, write] of (tool.writes ?? []).entries()) {
    runWrite(own, rows, write, scope, `${path}.writes[${i}]`);
    scope = { ...scope, tables: tablesOf(own.scenario, rows) };
  }
  const fault = tool.writes?.length ? broken(own, rows, new Set(tool.writes.map(({ table }) => table))) : undefined;
  return fault ? { error: fault } : { result: own.cel.json(tool.result!, scope, `${path}.result`) };
}

export const pathOf = ({ scenario: { tools } }: ReadScenario, tool: ScenarioTool): string => `tools[${tools.indexOf(tool)}]`;

/** What a tool does before its writes: it checks `requires`, and computes `values`. The names for later expressions, or the error. */
export function beginTool(
  own: ReadScenario,
  rows: Pick<Rows, 'keys' | 'get'>,
  tool: ScenarioTool,
  call: ToolCall,
): { scope: Scope } | { error: string } {
  const path = pathOf(own, tool);
  let scope: Scope = { args: argumentsOf(tool, call), tables: tablesOf(own.scenario, rows) };
  for (const [i, { check, error }] of (tool.requires ?? []).entries())
    if (!own.cel.true(check, scope, `${path}.requires[${i}].check`)) return { error: fill(error, call.arguments) };
  for (const [name, cel] of Object.entries(tool.values ?? {}))
    scope = { ...scope, [name]: own.cel.native(cel, scope, `${path}.values.${name}`) };
  return { scope };
}

/** The arguments as expressions see them. One that is not given is null. */
export const argumentsOf = ({ parameters }: ScenarioTool, call: ToolCall): Native =>
  Object.fromEntries(Object.entries(parameters).map(([name, { type }]) => [name, toNative(call.arguments[name] ?? null, type)]));

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
