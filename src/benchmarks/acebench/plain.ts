/** @file Values as they are after JSON, and as portable JSON. */
import { dumps, repr } from '../../python/text.ts';
import { Dict, PyObject, PySet, Tuple, type Value } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';

/** The value after Python's JSON: keys are texts, and tuples are lists. What JSON has not becomes its `repr`. */
export function throughJson(value: Value): Value {
  if (Array.isArray(value)) return value.map(throughJson);
  if (value instanceof Tuple) return value.items.map(throughJson);
  if (value instanceof Dict) return new Dict(value.entries().map(([key, child]) => [keyText(key), throughJson(child)] as const));
  return value instanceof PySet || value instanceof PyObject ? repr(value) : value;
}

const keyText = (key: Value): string => (typeof key === 'string' ? key : key !== null && typeof key === 'object' ? repr(key) : dumps(key));

/** The value as JSON with JavaScript's numbers. */
export const toJson = (value: Value): Json => json(throughJson(value));

function json(value: Value): Json {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(json);
  if (value instanceof Dict) return Object.fromEntries(value.entries().map(([key, child]) => [key, json(child)]));
  return value as Json;
}
