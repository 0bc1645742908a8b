/** @file Checks fields of benchmarks' files. Errors name the field, its value and what is expected. */
import { shown } from '../base/input-error.ts';
import { portable } from '../domains/multiturn/portable.ts';
import { Dict, type Value } from '../python/values.ts';

/** A field that must be an object. @param what the field, for the error */
export function dictOf(value: Value, what: string): Dict {
  if (!(value instanceof Dict)) throw wrongField(value, what, 'an object');
  return value;
}

/** The same for a list. */
export function listOf(value: Value, what: string): Value[] {
  if (!Array.isArray(value)) throw wrongField(value, what, 'a list');
  return value;
}

/** The same for a text. */
export function textOf(value: Value, what: string): string {
  if (typeof value !== 'string') throw wrongField(value, what, 'a text');
  return value;
}

/** The same for a list of texts. */
export const textsOf = (value: Value, what: string): string[] => listOf(value, what).map((one, i) => textOf(one, `${what}[${i}]`));

export const wrongField = (value: Value, what: string, expected: string) =>
  new Error(`${what} is ${shown(portable(value))}: expected ${expected}`);
