/** @file The types of fields and parameters. */
import type { Json } from '../records/json.ts';
import type { ScenarioField } from '../records/scenario.ts';

type Type = ScenarioField['type'];

/** A type in words, for messages. */
export const TYPE_WORDS: Readonly<Record<Type, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  strings: 'a list of texts',
};

/** Whether a value has the type. A whole number must be exact. */
export function fits(value: unknown, type: Type): value is Json {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  if (type === 'strings') return Array.isArray(value) && value.every((one) => typeof one === 'string');
  return typeof value === type;
}
