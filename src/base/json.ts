/** @file Compares, freezes and copies JSON values. */
import type { Json } from '../records/json.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy in which `change` replaces each value of the tree. It gets a list or an object before its children. */
export function mapJson(value: unknown, change: (value: unknown) => unknown): unknown {
  const changed = change(value);
  if (Array.isArray(changed)) return changed.map((child) => mapJson(child, change));
  if (!isObject(changed)) return changed;
  return Object.fromEntries(Object.entries(changed).map(([key, child]) => [key, mapJson(child, change)]));
}

/** JSON whose text is the same for equal values: keys sorted by UTF-16 code unit, no white space, numbers as JavaScript writes them. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value)
      .filter((key) => (value as Record<string, unknown>)[key] !== undefined)
      .sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}

/** Freezes a value. Episodes share rows, so an accidental write to a row must throw. */
export function freezeJson<T extends Json>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) freezeJson(child as Json);
  }
  return value;
}

/** A copy that is not frozen. A `__proto__` key stays an ordinary key. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map((child: unknown) => cloneJson(child)) as T;
  if (value === null || typeof value !== 'object') return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const child = cloneJson((value as Record<string, unknown>)[key]);
    if (key === '__proto__') Object.defineProperty(copy, key, { value: child, configurable: true, enumerable: true, writable: true });
    else copy[key] = child;
  }
  return copy as T;
}

export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
