/**
 * @file Reads records with typed fields, like tau2's models: a text that contains a number becomes a number, unknown fields
 * are dropped, fields are in the model's order, and a missing optional field becomes null.
 */
import { Refusal } from './arguments.ts';
import type { Json } from '../../records/json.ts';

/** Checks and converts a value. @throws {Refusal} that names the path and the expected value */
export type Reader = (value: Json | undefined, path: string) => Json;

function expected(path: string, what: string): never {
  throw new Refusal(`${path || 'the value'} must be ${what}`);
}

export const text: Reader = (value, path) => (typeof value === 'string' ? value : expected(path, 'a string'));
export const flag: Reader = (value, path) => (typeof value === 'boolean' ? value : expected(path, 'true or false'));

export const decimal: Reader = (value, path) => {
  if (typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return Number(value);
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : expected(path, 'a number');
};

export const integer: Reader = (value, path) => {
  if (typeof value === 'string' && !/^\s*[+-]?\d+(_\d+)*(\.0+)?\s*$/.test(value)) return expected(path, 'a whole number');
  const number = decimal(typeof value === 'string' ? value.replaceAll('_', '') : value, path) as number;
  return Number.isInteger(number) ? number : expected(path, 'a whole number');
};

export const oneOf =
  (...values: string[]): Reader =>
  (value, path) =>
    values.includes(value as string) ? value! : expected(path, `one of ${values.map((entry) => `'${entry}'`).join(', ')}`);

export const optional =
  (reader: Reader, missing: Json = null): Reader =>
  (value, path) =>
    value === undefined ? missing : value === null ? null : reader(value, path);

export const listOf =
  (reader: Reader): Reader =>
  (value, path) =>
    Array.isArray(value) ? value.map((entry, i) => reader(entry, join(path, String(i)))) : expected(path, 'a list');

export const mapOf =
  (reader: Reader): Reader =>
  (value, path) =>
    Object.fromEntries(Object.entries(object(value, path)).map(([name, entry]) => [name, reader(entry, join(path, name))]));

export const record = (fields: Record<string, Reader>): Reader => {
  const readers = Object.entries(fields);
  return (value, path) => {
    const given = object(value, path);
    return Object.fromEntries(
      readers.map(([name, reader]) => [name, reader(Object.hasOwn(given, name) ? given[name] : undefined, join(path, name))]),
    );
  };
};

/** A record of one of several kinds. The text in the field `tag` says which kind. */
export const tagged =
  (tag: string, models: Record<string, Reader>): Reader =>
  (value, path) => {
    const name = oneOf(...Object.keys(models))(object(value, path)[tag], join(path, tag)) as string;
    return models[name]!(value, path);
  };

export function object(value: Json | undefined, path: string): Record<string, Json> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : expected(path, 'an object');
}

function join(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}
