/** @file Checks a tool of a scenario file. */
import type { ScenarioTool, ScenarioWrite } from '../records/scenario.ts';
import { CEL_TYPES } from './cel.ts';
import { checkReturns } from './read-returns.ts';
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
  if (returns !== undefined) checkReturns(reader, returns, args, `${path}.returns`);
  if (says !== undefined) reader.template(says, plain, `${path}.says`);
  if (kind === 'write' && says === undefined) reader.fail(`${path}.says`, undefined, 'how people say this write, such as "book {room}"');
}

function checkServer(reader: Reader, { server, writes }: ScenarioTool, names: Names, path: string): void {
  if (!reader.scenario.host) reader.fail(`${path}.server`, server, 'no server, because the scenario has no host');
  if (writes) reader.fail(`${path}.writes`, writes.length, 'no writes beside server, because the server makes them');
  for (const [name, cel] of Object.entries(server!.arguments)) reader.expression(cel, names, `${path}.server.arguments.${name}`);
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
