/** @file Records with named fields: what tau2-bench's telecom databases may hold, in the order in which they are shown. */
import type { Json } from '../types.ts';

type Text = 'text' | 'date' | 'time';
/** A list of strings is an enumeration. `map` has free keys. */
export type Kind = Text | 'number' | 'integer' | 'flag' | readonly string[] | Model | { list: Kind } | { map: Kind };
interface Field { kind: Kind; nullable?: boolean; fallback?: Json }
export interface Model { fields: Record<string, Field> }

export const required = (kind: Kind): Field => ({ kind });
export const withDefault = (kind: Kind, fallback: Json): Field => ({ kind, fallback });
export const optional = (kind: Kind, fallback: Json = null): Field => ({ kind, nullable: true, fallback });

type Fail = (reason: string) => never;

/** A record with its fields in the model's order and its defaults filled in. @throws naming path and reason */
export function readModel(model: Model, value: Json | undefined, path: string): Record<string, Json> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error(`${path}: expected an object`);
  for (const name of Object.keys(value)) if (!Object.hasOwn(model.fields, name)) throw new Error(`${path}.${name}: there is no such field`);
  return Object.fromEntries(Object.entries(model.fields).map(([name, field]) => {
    const at = `${path}.${name}`;
    const given = Object.hasOwn(value, name) ? value[name] : field.fallback;
    if (given === undefined) throw new Error(`${at}: is missing`);
    return [name, given === null && field.nullable ? null : read(field.kind, given, at)];
  }));
}

/** Values are taken leniently, as pydantic does: `"80"` is an integer, `1` is true. */
function read(kind: Kind, value: Json, path: string): Json {
  const fail: Fail = (reason) => { throw new Error(`${path}: ${reason}`); };
  if (typeof kind === 'string') return scalar(kind, value, fail);
  if (isEnumeration(kind)) return kind.includes(value as string) ? value : fail(`expected one of ${kind.join(', ')}`);
  if ('list' in kind) return Array.isArray(value) ? value.map((entry, i) => read(kind.list, entry, `${path}[${i}]`)) : fail('expected a list');
  if ('map' in kind) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return fail('expected an object');
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, read(kind.map, entry, `${path}.${key}`)]));
  }
  return readModel(kind, value, path);
}

function scalar(kind: Text | 'number' | 'integer' | 'flag', value: Json, fail: Fail): Json {
  if (kind === 'flag') {
    const word = typeof value === 'string' ? value.toLowerCase() : value;
    if ([true, 1, '1', 'true', 't', 'yes', 'y', 'on'].includes(word as never)) return true;
    if ([false, 0, '0', 'false', 'f', 'no', 'n', 'off'].includes(word as never)) return false;
    return fail('expected true or false');
  }
  if (kind === 'number' || kind === 'integer') {
    const number = typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(value) ? Number(value) : typeof value === 'boolean' ? Number(value) : value;
    return typeof number === 'number' && (kind === 'number' || Number.isInteger(number)) ? number : fail(`expected ${kind === 'number' ? 'a number' : 'an integer'}`);
  }
  if (typeof value !== 'string') return fail('expected a text');
  if (kind === 'date' && !/^\d{4}-\d\d-\d\d$/.test(value)) return fail('expected a date, YYYY-MM-DD');
  if (kind !== 'time') return value;
  // A time of day is shown as Python's `str` does, with a blank.
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/.test(value) ? value.replace('T', ' ') : fail('expected a date and time');
}

function isEnumeration(kind: Kind): kind is readonly string[] {
  return Array.isArray(kind);
}
