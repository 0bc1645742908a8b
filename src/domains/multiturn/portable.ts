/** @file The state of an entry as JSON that does not depend on Python, and its hash. */
import { canonicalJson } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import { compareTexts } from '../../python/operations.ts';
import { repr, str } from '../../python/text.ts';
import { Dict, PySet, Tuple, typeName, type Value } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';
import { Directory, File } from './classes/files.ts';

/** A value that is nested more deeply becomes `…`. */
const DEEPEST = 200;

/**
 * A value as JSON. Ints and floats become numbers; a key that is no text gets its type before it, such as `<int>5`. The contents of a
 * directory that contains itself are `…` inside them.
 * @param above the values that contain this one. A directory stands there as its contents
 */
export function portable(value: Value, above: readonly Value[] = []): Json {
  if (above.length > DEEPEST) return '…';
  if (typeof value === 'bigint') return Number(value);
  if (value === null || typeof value !== 'object') return value;
  const own = value instanceof Directory ? value.contents : value;
  const inner = (child: Value) => portable(child, [...above, own]);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Tuple) return value.items.map(inner);
  if (value instanceof PySet)
    return {
      __set__: value
        .items()
        .toSorted((a, b) => compareTexts(str(a), str(b)))
        .map(inner),
    };
  if (value instanceof Dict) return objectOf(value, inner);
  if (value instanceof Directory)
    return { __dir__: inner(value.folderName), contents: above.includes(own) ? '…' : objectOf(value.contents, inner) };
  if (value instanceof File) return { __file__: inner(value.fileName), content: inner(value.content) };
  return repr(value);
}

function objectOf(value: Dict, inner: (child: Value) => Json): Json {
  return Object.fromEntries(
    value.entries().map(([key, child]) => [typeof key === 'string' ? key : `<${typeName(key)}>${str(key)}`, inner(child)]),
  );
}

/** @param state the public attributes of each class */
export const portableState = (state: Record<string, Record<string, Value>>): Record<string, Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(state).map(([className, attributes]) => [
      className,
      Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, portable(value)])),
    ]),
  );

/** SHA-256 of the state as canonical JSON. */
export const stateHash = (state: Record<string, Record<string, Value>>, hash: (text: string) => string = sha256): string =>
  hash(canonicalJson(portableState(state)));
