/** @file JSON that keeps the order of all keys. JavaScript would move keys that look like integers to the front of an object. */
import type { Json } from '../../records/json.ts';
import { Refusal } from './arguments.ts';

const GUARD = '\u0000';

/** Parses a text. An object with a key that consists of digits becomes a list of `[key, value]` pairs in the order of the text. */
export function parseOrdered(source: string): Json {
  // This matches only keys, because quotes inside a string are escaped.
  const guarded = source.replace(/"(\d+)"(?=\s*:)/g, '"\\u0000$1"');
  if (guarded === source) return JSON.parse(source) as Json; // ten times faster than JSON.parse with a reviver
  return JSON.parse(guarded, (_, value: Json) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.keys(value).some((name) => name.startsWith(GUARD)))
      return value;
    return Object.entries(value).map(([name, child]) => [name.replace(GUARD, ''), child]);
  }) as Json;
}

/** The entries of an object, or of a list of pairs from `parseOrdered`. @throws {Refusal} on any other value */
export function orderedEntries(value: Json | undefined, path: string): [string, Json][] {
  if (Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string'))
    return value as [string, Json][];
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Refusal(`${path} must be an object`);
  return Object.entries(value);
}
