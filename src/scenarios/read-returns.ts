/** @file Checks what a tool of a scenario file says of its result: `returns`, a JSON Schema with words of its own. */
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { Reader } from './reader.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];

/** @param args the names of the tool's arguments @throws InputError */
export function checkReturns(reader: Reader, returns: Json, args: readonly string[], path: string): void {
  checkSchema(reader, returns, path, returns);
  checkWords(reader, returns, args, path);
}

/** Words of JSON Schema that `z.fromJSONSchema` refuses when it checks a result. */
const UNKNOWN = ['unevaluatedItems', 'unevaluatedProperties', 'if', 'then', 'else', 'dependentSchemas', 'dependentRequired'];

/** The word because of which `z.fromJSONSchema` refuses a schema. It follows references to `$defs` only, or in older drafts to `definitions`. */
function unknownWord(schema: Record<string, unknown>, root: Json): string | undefined {
  const { not, $ref: ref } = schema;
  if (not !== undefined && !(isObject(not) && Object.keys(not).length === 0)) return 'not';
  if (ref !== undefined && ref !== '#' && !isDefined(String(ref), root)) return `$ref ${shown(ref)}`;
  return UNKNOWN.find((word) => Object.hasOwn(schema, word));
}

function isDefined(ref: string, root: Json): boolean {
  if (!isObject(root)) return false;
  const place = /draft-0/.test(String(root.$schema)) ? 'definitions' : '$defs';
  const [, given, name = ''] = ref.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return ref.startsWith('#/') && given === place && isObject(root[place]) && Object.hasOwn(root[place], name);
}

/** Finds the part of a schema that is wrong. The page reads scenarios too, so this does not load the library, which names no place. */
function checkSchema(reader: Reader, schema: Json | undefined, path: string, root: Json): void {
  if (typeof schema === 'boolean') return;
  if (!isObject(schema)) return reader.fail(path, schema, 'a JSON Schema, which is an object');
  const unknown = unknownWord(schema, root);
  if (unknown !== undefined) reader.fail(path, schema, `a JSON Schema that can be checked, without ${unknown}`);
  const { type, pattern, properties, items, required, enum: choices, additionalProperties: more } = schema;
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (types.some((one) => !TYPES.includes(one as string))) reader.fail(`${path}.type`, type, TYPES.join(', '));
  if (pattern !== undefined) checkPattern(reader, pattern, `${path}.pattern`);
  if (properties !== undefined && !isObject(properties)) reader.fail(`${path}.properties`, properties, 'a schema for each property');
  for (const [name, child] of Object.entries(properties ?? {})) checkSchema(reader, child as Json, `${path}.properties.${name}`, root);
  if (items !== undefined) checkSchema(reader, items as Json, `${path}.items`, root);
  if (isObject(more)) checkSchema(reader, more as Json, `${path}.additionalProperties`, root);
  if (required !== undefined && !(Array.isArray(required) && required.every((one) => typeof one === 'string')))
    reader.fail(`${path}.required`, required, 'a list of names');
  if (choices !== undefined && !Array.isArray(choices)) reader.fail(`${path}.enum`, choices, 'a list of values');
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    const list = schema[word];
    if (list === undefined) continue;
    if (!Array.isArray(list)) return reader.fail(`${path}.${word}`, list, 'a list of schemas');
    list.forEach((child, i) => checkSchema(reader, child as Json, `${path}.${word}[${i}]`, root));
  }
}

function checkPattern(reader: Reader, pattern: Json, path: string): void {
  try {
    new RegExp(String(pattern));
  } catch (cause) {
    reader.fail(path, pattern, `a regular expression (${(cause as Error).message})`);
  }
}

/** Checks the words of `returns` that JSON Schema does not have. `src/scenarios/simulated/returns.ts` says what they mean. */
function checkWords(reader: Reader, returns: Json, args: readonly string[], path: string): void {
  if (Array.isArray(returns)) return returns.forEach((child, i) => checkWords(reader, child, args, `${path}[${i}]`));
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
  for (const [name, child] of Object.entries(returns)) checkWords(reader, child as Json, args, `${path}.${name}`);
}
