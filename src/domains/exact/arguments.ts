/** @file Reads the arguments of a tool call as Python code does: a tool checks an argument only when it uses it. */
import type { Json } from '../../records/json.ts';

export type Arguments = Record<string, Json>;

/** An error that a tool returns as its observation, after `Error: `. */
export class Refusal extends Error {}

/** @throws {Refusal} if the names of the arguments are not exactly `parameters`. Parameters in `optional` may be missing. */
export function checkArguments(tool: string, args: Arguments, parameters: readonly string[], optional: readonly string[] = []): void {
  for (const name of Object.keys(args)) if (!parameters.includes(name)) throw new Refusal(`${tool} has no argument '${name}'`);
  const missing = parameters.filter((name) => !Object.hasOwn(args, name) && !optional.includes(name));
  if (missing.length)
    throw new Refusal(`${tool} needs the argument${missing.length > 1 ? 's' : ''} ${missing.map((name) => `'${name}'`).join(', ')}`);
}

/**
 * Uses a value as a Python dictionary key. Scalars that are not strings never match a key.
 * @throws {Refusal} on lists and objects, which Python cannot use as keys
 */
export function key(value: Json, field: string): string {
  if (value !== null && typeof value === 'object')
    throw new Refusal(`${field} must be a string, not ${Array.isArray(value) ? 'a list' : 'an object'}`);
  return typeof value === 'string' ? value : '';
}

/** The values over which Python would iterate: the entries of a list, the characters of a string, or the keys of an object. */
export function sequence(value: Json, field: string): Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (value !== null && typeof value === 'object') return Object.keys(value);
  throw new Refusal(`${field} must be a list`);
}

/** The number that Python's arithmetic uses for a value. True counts as 1. */
export function numeric(value: Json, field: string): number {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'number') throw new Refusal(`${field} must be a number`);
  return value;
}

/** Reads `value[name]`. @throws {Refusal} if `value` is not an object or has no such field */
export function member(value: Json, name: string, field: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Refusal(`${field} must be an object`);
  if (!Object.hasOwn(value, name)) throw new Refusal(`${field} has no '${name}'`);
  return value[name]!;
}
