/** @file Arguments of a tool call as Python code reads them: a tool checks an argument when it uses the argument. */
import type { Json } from '../../records/json.ts';

export type Arguments = Record<string, Json>;

/** A refusal that a tool puts into its observation, after `Error: `. */
export class Refusal extends Error {}

/** @throws {Refusal} if the arguments are not exactly the parameters. Parameters in `optional` may be missing. */
export function checkArguments(tool: string, args: Arguments, parameters: readonly string[], optional: readonly string[] = []): void {
  for (const name of Object.keys(args)) if (!parameters.includes(name)) throw new Refusal(`${tool} has no argument '${name}'`);
  const missing = parameters.filter((name) => !Object.hasOwn(args, name) && !optional.includes(name));
  if (missing.length)
    throw new Refusal(`${tool} needs the argument${missing.length > 1 ? 's' : ''} ${missing.map((name) => `'${name}'`).join(', ')}`);
}

/** A dictionary key in Python. Scalars other than strings are never found. @throws {Refusal} on lists and objects, which cannot be keys */
export function key(value: Json, field: string): string {
  if (value !== null && typeof value === 'object')
    throw new Refusal(`${field} must be a string, not ${Array.isArray(value) ? 'a list' : 'an object'}`);
  return typeof value === 'string' ? value : '';
}

/** The values over which Python iterates: entries of a list, characters of a string, keys of an object. */
export function sequence(value: Json, field: string): Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (value !== null && typeof value === 'object') return Object.keys(value);
  throw new Refusal(`${field} must be a list`);
}

/** A number in Python's arithmetic, where True is 1. */
export function numeric(value: Json, field: string): number {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'number') throw new Refusal(`${field} must be a number`);
  return value;
}

/** `value[name]`. @throws {Refusal} if `value` is not an object or has no such field */
export function member(value: Json, name: string, field: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Refusal(`${field} must be an object`);
  if (!Object.hasOwn(value, name)) throw new Refusal(`${field} has no '${name}'`);
  return value[name]!;
}
