/**
 * @file Python's values in JavaScript. A bigint is an `int` and a number is a `float`, so that 5 and 5.0 stay apart. An array is
 * a `list`.
 */

export type Value = null | boolean | bigint | number | string | Value[] | Dict | Tuple | PySet | PyObject;

/** An exception of Python. `message` is what `str(error)` prints. */
export class PyError extends Error {
  override name = 'PyError';

  constructor(
    /** The name of the exception's class. */
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}

/** A value of a class. JSON cannot write it. */
export abstract class PyObject {
  abstract readonly typeName: string;
  abstract repr(): string;
  /** Python's `==`. */
  equals(other: Value): boolean {
    return this === other;
  }
}

class EllipsisType extends PyObject {
  readonly typeName = 'ellipsis';
  repr = () => 'Ellipsis';
}
export const ELLIPSIS = new EllipsisType();

/** A value that is only printed, such as a `Decimal`. */
export class Printed extends PyObject {
  constructor(
    readonly typeName: string,
    private readonly text: string,
  ) {
    super();
  }
  repr(): string {
    return this.text;
  }
  override equals(other: Value): boolean {
    return other instanceof Printed && other.typeName === this.typeName && other.text === this.text;
  }
}

export class Tuple {
  constructor(readonly items: readonly Value[]) {}
}

type Key = null | bigint | number | string;

/** What identifies a key: 1, 1.0 and True are one key. @throws {PyError} for a value without a hash */
function hashed(key: Value): Key {
  if (typeof key === 'string') return `'${key}`;
  if (typeof key === 'boolean') return BigInt(key);
  if (typeof key === 'number') return Number.isInteger(key) ? BigInt(key) : key;
  if (key === null || typeof key === 'bigint') return key;
  if (key instanceof Printed) return `=${key.typeName} ${key.repr()}`;
  if (key instanceof Tuple)
    return `(${key.items
      .map((item) => {
        const own = hashed(item);
        return JSON.stringify([typeof own, String(own)]);
      })
      .join()}`;
  throw new PyError('TypeError', `unhashable type: '${typeName(key)}'`);
}

/** @throws {PyError} for a value without a hash, which cannot be a key */
export const checkHashable = (value: Value): void => void hashed(value);

/** A `dict`. Its keys keep their order. */
export class Dict {
  readonly #entries = new Map<Key, [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Value): boolean {
    return this.#entries.has(hashed(key));
  }

  /** Undefined if the key is missing. */
  get(key: Value): Value | undefined {
    return this.#entries.get(hashed(key))?.[1];
  }

  /** An existing key keeps its place and its form. */
  set(key: Value, value: Value): this {
    const own = hashed(key);
    const entry = this.#entries.get(own);
    if (entry) entry[1] = value;
    else this.#entries.set(own, [key, value]);
    return this;
  }

  delete(key: Value): boolean {
    return this.#entries.delete(hashed(key));
  }

  keys(): Value[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  values(): Value[] {
    return [...this.#entries.values()].map(([, value]) => value);
  }

  entries(): [Value, Value][] {
    return [...this.#entries.values()].map(([key, value]) => [key, value]);
  }

  /** A copy with the same values (`dict.copy`). */
  copy(): Dict {
    return new Dict(this.#entries.values());
  }
}

export class PySet {
  readonly #items = new Dict();

  constructor(items: Iterable<Value> = []) {
    for (const item of items) this.add(item);
  }

  add(item: Value): void {
    this.#items.set(item, null);
  }

  has(item: Value): boolean {
    return this.#items.has(item);
  }

  items(): Value[] {
    return this.#items.keys();
  }
}

/** A dict whose keys are texts. */
export const dict = (fields: Record<string, Value>): Dict => new Dict(Object.entries(fields));

/** The name of the value's class, `type(value).__name__`. */
export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Dict) return 'dict';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof PySet) return 'set';
  if (value instanceof PyObject) return value.typeName;
  return { boolean: 'bool', bigint: 'int', number: 'float', string: 'str' }[typeof value as 'boolean' | 'bigint' | 'number' | 'string'];
}

/** Python's `bool(value)`. */
export function truth(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Dict) return value.size > 0;
  if (value instanceof Tuple) return value.items.length > 0;
  if (value instanceof PySet) return value.items().length > 0;
  // NaN is true in Python.
  return typeof value === 'number' ? value !== 0 : Boolean(value);
}

/** The number that a bool, an int or a float stands for. Undefined for other values. */
export const asNumber = (value: Value): bigint | number | undefined =>
  typeof value === 'boolean' ? BigInt(value) : typeof value === 'bigint' || typeof value === 'number' ? value : undefined;

/** Python's `a == b`. */
export function equal(a: Value, b: Value): boolean {
  const [x, y] = [asNumber(a), asNumber(b)];
  // JavaScript compares an int with a float exactly, as Python does.
  if (x !== undefined && y !== undefined) return x == y;
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b);
  if (a instanceof Tuple) return b instanceof Tuple && equalItems(a.items, b.items);
  if (a instanceof Dict)
    return (
      b instanceof Dict &&
      a.size === b.size &&
      a.entries().every(([key, value]) => {
        const other = b.get(key);
        return other !== undefined && same(value, other);
      })
    );
  if (a instanceof PySet) return b instanceof PySet && a.items().length === b.items().length && a.items().every((item) => b.has(item));
  if (a instanceof PyObject) return a.equals(b);
  return a === b;
}

/** Python compares the elements of containers by identity first, so that a list with NaN equals itself. */
export const same = (a: Value, b: Value) => Object.is(a, b) || equal(a, b);
const equalItems = (a: readonly Value[], b: readonly Value[]) => a.length === b.length && a.every((item, i) => same(item, b[i]!));

/** A copy that shares nothing with the value (`copy.deepcopy`). Objects of classes are not copied. */
export function deepCopy<T extends Value>(value: T): T {
  if (Array.isArray(value)) return value.map(deepCopy) as T;
  if (value instanceof Dict) return new Dict(value.entries().map(([key, child]) => [key, deepCopy(child)] as const)) as T;
  if (value instanceof PySet) return new PySet(value.items()) as T;
  return value;
}
