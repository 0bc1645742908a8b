/** @file Checks a tool of a scenario file. */
import { isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { ScenarioTool, ScenarioWrite } from '../records/scenario.ts';
import { CEL_TYPES } from './cel.ts';
import type { Names, Reader } from './reader.ts';

/** Names that expressions of tools have in any case. */
const TAKEN = ['args', 'tables', 'it', 'text', 'structured', ...CEL_TYPES];

/** @throws InputError */
export function checkTool(reader: Reader, tool: ScenarioTool, path: string): void {
  const { kind, from, parameters, requires = [], values = {}, writes = [], result, returns, says, server } = tool;
  const args = Object.keys(parameters);
  const plain: Names = Object.fromEntries(args.map((name) => [name, null]));
  reader.level(from, `${path}.from`);
  for (const [name, { type, enum: choices }] of Object.entries(parameters))
    if (choices && type !== 'string' && type !== 'strings')
      reader.fail(`${path}.parameters.${name}.enum`, choices, 'no choices, because the type is neither string nor strings');
  requires.forEach(({ check, error }, i) => {
    reader.expression(check, { args }, `${path}.requires[${i}].check`);
    reader.template(error, plain, `${path}.requires[${i}].error`);
  });
  const names: Record<string, readonly string[] | null> = { args };
  for (const [name, cel] of Object.entries(values)) {
    if (TAKEN.includes(name)) reader.fail(`${path}.values`, name, `another name than ${TAKEN.join(', ')}`);
    reader.expression(cel, names, `${path}.values.${name}`);
    names[name] = null;
  }
  if (kind === 'read' && writes.length > 0) reader.fail(`${path}.writes`, writes.length, 'no writes, because the tool is a read');
  writes.forEach((write, i) => checkWrite(reader, write, names, `${path}.writes[${i}]`));
  if (server) checkServer(reader, tool, names, path);
  else if (reader.scenario.host && kind === 'write')
    reader.fail(`${path}.server`, undefined, 'the tool of the server that makes this write, because host holds the state');
  if (result !== undefined) reader.expression(result, server ? { ...names, text: null, structured: null } : names, `${path}.result`);
  else if (!server) reader.fail(`${path}.result`, undefined, 'an expression for the result');
  if (returns !== undefined && !isObject(returns)) reader.fail(`${path}.returns`, returns, 'a JSON Schema, which is an object');
  if (returns !== undefined) checkReturns(reader, returns, args, `${path}.returns`);
  if (says !== undefined) reader.template(says, plain, `${path}.says`);
  if (kind === 'write' && says === undefined) reader.fail(`${path}.says`, undefined, 'how people say this write, such as "book {room}"');
}

function checkServer(reader: Reader, { server, writes }: ScenarioTool, names: Names, path: string): void {
  if (!reader.scenario.host) reader.fail(`${path}.server`, server, 'no server, because the scenario has no host');
  if (writes) reader.fail(`${path}.writes`, writes.length, 'no writes beside server, because the server makes them');
  for (const [name, cel] of Object.entries(server!.arguments)) reader.expression(cel, names, `${path}.server.arguments.${name}`);
}

/** Checks the words of `returns` that JSON Schema does not have. `src/scenarios/simulated/returns.ts` says what they mean. */
function checkReturns(reader: Reader, returns: Json, args: readonly string[], path: string): void {
  if (Array.isArray(returns)) return returns.forEach((child, i) => checkReturns(reader, child, args, `${path}[${i}]`));
  if (!isObject(returns)) return;
  const { 'x-row': row, 'x-text': cel, 'x-sorted': sorted, items } = returns as Record<string, Json | undefined>;
  const fieldsOf = (table: Json | undefined, at: string): string[] | null => {
    if (table === undefined) return null;
    if (typeof table !== 'string') return reader.fail(`${at}.x-row`, table, 'the name of a table');
    return Object.keys(reader.table(table, `${at}.x-row`).fields);
  };
  const fields = fieldsOf(row, path);
  if (cel !== undefined) {
    if (typeof cel !== 'string') reader.fail(`${path}.x-text`, cel, 'an expression');
    else reader.expression(cel, { args, ...(fields && { row: fields }) }, `${path}.x-text`);
  }
  if (sorted !== undefined) {
    const own = isObject(items) ? fieldsOf(items['x-row'] as Json | undefined, `${path}.items`) : null;
    if (!own) reader.fail(`${path}.x-sorted`, sorted, 'items with x-row beside it');
    else reader.known('field', String(sorted), own, `${path}.x-sorted`);
  }
  for (const [name, child] of Object.entries(returns)) checkReturns(reader, child as Json, args, `${path}.${name}`);
}

function checkWrite(reader: Reader, write: ScenarioWrite, outer: Names, path: string): void {
  const { key, fields } = reader.table(write.table, `${path}.table`);
  const known = Object.keys(fields);
  if (write.each !== undefined) reader.expression(write.each, outer, `${path}.each`);
  const names = write.each === undefined ? outer : { ...outer, it: null };
  const part = 'insert' in write ? 'insert' : 'set';
  const values = 'insert' in write ? write.insert : 'set' in write ? write.set : {};
  for (const [field, cel] of Object.entries(values)) {
    reader.known('field', field, known, `${path}.${part}`);
    reader.expression(cel, names, `${path}.${part}.${field}`);
  }
  if ('insert' in write && !Object.hasOwn(values, key)) reader.fail(`${path}.insert.${key}`, undefined, 'the key of the new row');
  if ('set' in write && Object.hasOwn(values, key))
    reader.fail(`${path}.set.${key}`, values[key], 'other fields, because this one is the key');
  if ('update' in write) reader.expression(write.update, names, `${path}.update`);
  if ('delete' in write) reader.expression(write.delete, names, `${path}.delete`);
}
