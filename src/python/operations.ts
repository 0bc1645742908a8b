/** @file Python's operators and functions on values. A wrong type throws the exception of CPython 3.11. */
import { repr } from './text.ts';
import { asNumber, Dict, equal, PyError, PySet, same, Tuple, typeName, type Value } from './values.ts';

export const typeError = (message: string) => new PyError('TypeError', message);

const wrongOperands = (op: string, a: Value, b: Value) =>
  typeError(`unsupported operand type(s) for ${op}: '${typeName(a)}' and '${typeName(b)}'`);

/** The nearest float. @throws {PyError} if the int is too large */
export function toFloat(value: bigint | number): number {
  const float = Number(value);
  if (typeof value === 'bigint' && !Number.isFinite(float)) throw new PyError('OverflowError', 'int too large to convert to float');
  return float;
}

/** Python's `<`. @throws {PyError} if the types have no order */
export function less(a: Value, b: Value, op = '<'): boolean {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x !== undefined && y !== undefined) return x < y;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b) < 0;
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((item, i) => i >= b.length || !equal(item, b[i]!));
    return at < 0 ? a.length < b.length : at < b.length && less(a[at]!, b[at]!, op);
  }
  throw typeError(`'${op}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

/** Python's `<=`. It is false for NaN. */
export function atMost(a: Value, b: Value, op = '<='): boolean {
  const [x, y] = [asNumber(a), asNumber(b)];
  return x !== undefined && y !== undefined ? x <= y : !less(b, a, op);
}

/** The order of code points, which differs from that of UTF-16. */
export function compareTexts(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}

/** Applies an operator to two numbers: to ints, or to floats if one of them is a float. */
function arithmetic(op: string, a: Value, b: Value, ints: (x: bigint, y: bigint) => Value, floats: (x: number, y: number) => Value): Value {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x === undefined || y === undefined) throw wrongOperands(op, a, b);
  return typeof x === 'bigint' && typeof y === 'bigint' ? ints(x, y) : floats(toFloat(x), toFloat(y));
}

export function add(a: Value, b: Value): Value {
  if (typeof a === 'string') {
    if (typeof b === 'string') return a + b;
    throw typeError(`can only concatenate str (not "${typeName(b)}") to str`);
  }
  if (Array.isArray(a)) {
    if (Array.isArray(b)) return [...a, ...b];
    throw typeError(`can only concatenate list (not "${typeName(b)}") to list`);
  }
  return arithmetic(
    '+',
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
}

export const subtract = (a: Value, b: Value): Value =>
  arithmetic(
    '-',
    a,
    b,
    (x, y) => x - y,
    (x, y) => x - y,
  );

/** The longest text or list that a repetition makes. */
const LONGEST = 1e6;

export function multiply(a: Value, b: Value): Value {
  const [sequence, times] = typeof a === 'string' || Array.isArray(a) ? [a, b] : [b, a];
  if (typeof sequence !== 'string' && !Array.isArray(sequence))
    return arithmetic(
      '*',
      a,
      b,
      (x, y) => x * y,
      (x, y) => x * y,
    );
  if (typeof times !== 'bigint' && typeof times !== 'boolean')
    throw typeError(`can't multiply sequence by non-int of type '${typeName(times)}'`);
  const count = Math.max(0, Number(times));
  if (count * sequence.length > LONGEST) throw new PyError('MemoryError', `the result is longer than ${LONGEST}`);
  return typeof sequence === 'string' ? sequence.repeat(count) : Array.from({ length: count }, () => sequence).flat();
}

/** Python's `/`. @throws {PyError} also for a division by zero */
export function divide(a: Value, b: Value): Value {
  return arithmetic('/', a, b, divideInts, (x, y) => {
    if (y === 0) throw new PyError('ZeroDivisionError', 'float division by zero');
    return x / y;
  });
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
export const absolute = (x: bigint) => (x < 0n ? -x : x);
export const bitLength = (x: bigint): number => (x === 0n ? 0 : absolute(x).toString(2).length);

function divideInts(x: bigint, y: bigint): number {
  if (y === 0n) throw new PyError('ZeroDivisionError', 'division by zero');
  if (absolute(x) <= SAFE && absolute(y) <= SAFE) return Number(x) / Number(y);
  const quotient = quotientOf(x, y);
  if (!Number.isFinite(quotient)) throw new PyError('OverflowError', 'integer division result too large for a float');
  return quotient;
}

/** The float that is nearest to x / y, for y ≠ 0. A tie goes to the even float. */
export function quotientOf(x: bigint, y: bigint): number {
  if (x === 0n) return y < 0n ? -0 : 0;
  const sign = x < 0n === y < 0n ? 1 : -1;
  const [top, bottom] = [absolute(x), absolute(y)];
  // Two more bits than a float has, and a last bit that says whether the rest is not 0. So Number() rounds only once.
  const shift = Math.min(bitLength(bottom) - bitLength(top) + 56, 1074);
  // Below the smallest normal float, all floats are multiples of 2^-1074.
  if (shift === 1074) return sign * Number(divideRound(top << 1074n, bottom)) * 2 ** -1074;
  const scaled = shift >= 0 ? top << BigInt(shift) : top;
  const by = shift >= 0 ? bottom : bottom << BigInt(-shift);
  const whole = ((scaled / by) << 1n) | (scaled % by === 0n ? 0n : 1n);
  // 2 ** -1075 is 0, so the power is applied in two steps.
  return sign * Number(whole) * 2 ** -Math.trunc((shift + 1) / 2) * 2 ** -(shift + 1 - Math.trunc((shift + 1) / 2));
}

/** The int nearest to x / 2^bits. A tie goes to the even int. */
export function roundShift(x: bigint, bits: number): bigint {
  if (bits <= 0) return x << BigInt(-bits);
  return divideRound(x, 1n << BigInt(bits));
}

/** The int nearest to x / y, for y > 0. A tie goes to the even int. */
export function divideRound(x: bigint, y: bigint): bigint {
  let quotient = x / y;
  let rest = x % y;
  if (rest < 0n) {
    quotient -= 1n;
    rest += y;
  }
  const twice = rest * 2n;
  return twice > y || (twice === y && quotient % 2n !== 0n) ? quotient + 1n : quotient;
}

export const negate = (value: Value): Value => {
  const number = asNumber(value);
  if (number === undefined) throw typeError(`bad operand type for unary -: '${typeName(value)}'`);
  return -number;
};

export function abs(value: Value): Value {
  const number = asNumber(value);
  if (number === undefined) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
  return typeof number === 'bigint' ? absolute(number) : Math.abs(number);
}

/** Python's `sum`, without the compensation that CPython 3.12 added. */
export const sum = (value: Value): Value => iterate(value).reduce(add, 0n);

/** The elements of a value in the order of Python's `for`. @throws {PyError} if it has none */
export function iterate(value: Value): Value[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (value instanceof Dict) return value.keys();
  if (value instanceof Tuple) return [...value.items];
  if (value instanceof PySet) return value.items();
  throw typeError(`'${typeName(value)}' object is not iterable`);
}

export function length(value: Value): bigint {
  const sized = value !== null && typeof value === 'object' && !('typeName' in value);
  if (!sized && typeof value !== 'string') throw typeError(`object of type '${typeName(value)}' has no len()`);
  return BigInt(iterate(value).length);
}

/** Python's `item in container`. */
export function contains(container: Value, item: Value): boolean {
  if (typeof container === 'string') {
    if (typeof item !== 'string') throw typeError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    return container.includes(item);
  }
  if (container instanceof Dict || container instanceof PySet) return container.has(item);
  if (Array.isArray(container) || container instanceof Tuple) return iterate(container).some((one) => same(one, item));
  throw typeError(`argument of type '${typeName(container)}' is not iterable`);
}

/** Python's `container[key]` of a dict. @throws {PyError} also if the key is missing or the container is no dict */
export function itemOf(container: Value, key: Value): Value {
  if (container instanceof Dict) {
    const value = container.get(key);
    if (value === undefined) throw new PyError('KeyError', repr(key));
    return value;
  }
  if (typeof container === 'string') throw typeError(`string indices must be integers, not '${typeName(key)}'`);
  if (Array.isArray(container)) throw typeError(`list indices must be integers or slices, not ${typeName(key)}`);
  throw typeError(`'${typeName(container)}' object is not subscriptable`);
}

/** Python's `container[key] = value` of a dict. */
export function setItem(container: Value, key: Value, value: Value): void {
  if (!(container instanceof Dict)) throw typeError(`'${typeName(container)}' object does not support item assignment`);
  container.set(key, value);
}

/** The text, for a method that only texts have. @throws {PyError} if the value is no text */
export function textFor(method: string, value: Value): string {
  if (typeof value !== 'string') throw attributeError(value, method);
  return value;
}

/** The dict, for a method that only dicts have. */
export function dictFor(method: string, value: Value): Dict {
  if (!(value instanceof Dict)) throw attributeError(value, method);
  return value;
}

/** The list, for a method that only lists have. */
export function listFor(method: string, value: Value): Value[] {
  if (!Array.isArray(value)) throw attributeError(value, method);
  return value;
}

export const attributeError = (value: Value, name: string) =>
  new PyError('AttributeError', `'${typeName(value)}' object has no attribute '${name}'`);

/** Python's `list.remove`: removes the first element that is equal. Returns whether there was one. */
export function removeFirst(list: Value[], item: Value): boolean {
  const at = list.findIndex((one) => same(one, item));
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}
