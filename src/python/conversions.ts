/** @file Python's conversions of numbers: `float`, `int`, `round`, `**` and the format `.2f`. */
import { bitLength, divideRound, quotientOf, toFloat, typeError } from './operations.ts';
import { cosSin, exactPower } from './power.ts';
import { floatRepr, repr } from './text.ts';
import { asNumber, Printed, PyError, typeName, type Value } from './values.ts';

const FLOAT = /^[-+]?(?:(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:e[-+]?\d(?:_?\d)*)?|inf(?:inity)?|nan)$/i;

/** Python's `float(value)`. */
export function float(value: Value): number {
  const number = asNumber(value);
  if (number !== undefined) return toFloat(number);
  if (typeof value !== 'string') throw typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
  const text = value.trim();
  if (!FLOAT.test(text)) throw new PyError('ValueError', `could not convert string to float: ${repr(value)}`);
  const word = /^([-+]?)(inf|nan)/i.exec(text);
  if (word) return word[2]!.toLowerCase() === 'nan' ? NaN : word[1] === '-' ? -Infinity : Infinity;
  return Number(text.replaceAll('_', ''));
}

/** Python's `int(value)`. A float is cut to its whole part. */
export function int(value: Value): bigint {
  const number = asNumber(value);
  if (typeof number === 'bigint') return number;
  if (typeof number === 'number') {
    if (Number.isNaN(number)) throw new PyError('ValueError', 'cannot convert float NaN to integer');
    if (!Number.isFinite(number)) throw new PyError('OverflowError', 'cannot convert float infinity to integer');
    return BigInt(Math.trunc(number));
  }
  if (typeof value !== 'string')
    throw typeError(`int() argument must be a string, a bytes-like object or a real number, not '${typeName(value)}'`);
  const text = value.trim();
  if (!/^[-+]?\d(?:_?\d)*$/.test(text)) throw new PyError('ValueError', `invalid literal for int() with base 10: ${repr(value)}`);
  const digits = text.replaceAll('_', '');
  return digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits.replace('+', ''));
}

const BITS = new DataView(new ArrayBuffer(8));

/** The finite float as `mantissa` · 2^`exponent`, exactly. */
export function takeApart(x: number): { mantissa: bigint; exponent: number } {
  BITS.setFloat64(0, x);
  const bits = BITS.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = power === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: x < 0 ? -mantissa : mantissa, exponent: Math.max(power, 1) - 1075 };
}

/** The finite float as a quotient of two ints, exactly. */
export function ratio(x: number): { top: bigint; bottom: bigint } {
  const { mantissa, exponent } = takeApart(x);
  return exponent >= 0 ? { top: mantissa << BigInt(exponent), bottom: 1n } : { top: mantissa, bottom: 1n << BigInt(-exponent) };
}

/**
 * Python's `round(value, digits)`. A tie of the exact value goes to the even digit. With `digits` null, the result is an int.
 * @throws {PyError} if a value is no number
 */
export function round(value: Value, digits: Value): Value {
  const number = asNumber(value);
  if (number === undefined) throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
  if (digits !== null && typeof digits !== 'bigint' && typeof digits !== 'boolean')
    throw typeError(`'${typeName(digits)}' object cannot be interpreted as an integer`);
  const places = Number(digits ?? 0n);
  if (typeof number === 'bigint') {
    if (places >= 0) return number;
    if (-places > 5000) return 0n;
    const unit = 10n ** BigInt(-places);
    return divideRound(number, unit) * unit;
  }
  if (digits === null) {
    int(number);
    const { top, bottom } = ratio(number);
    return divideRound(top, bottom);
  }
  if (!Number.isFinite(number) || number === 0 || places > 323) return number;
  if (places < -309) return Math.sign(number) * 0;
  const { top, bottom } = ratio(number);
  const unit = 10n ** BigInt(Math.abs(places));
  const whole = places >= 0 ? divideRound(top * unit, bottom) : divideRound(top, bottom * unit);
  const rounded = places >= 0 ? quotientOf(whole, unit) : Number(whole * unit);
  if (!Number.isFinite(rounded)) throw new PyError('OverflowError', 'rounded value too large to represent');
  return whole === 0n ? Math.sign(number) * 0 : rounded;
}

/** Above this number of digits nothing is computed here. Python's `decimal` allows 999999999999999999, and mpmath any number. */
export const MOST_PRECISION = 20_000;

/** @throws {PyError} MemoryError if the digits are too many */
export function checkPrecision(digits: bigint): void {
  if (digits > MOST_PRECISION) throw new PyError('MemoryError', `precision is ${digits}: expected at most ${MOST_PRECISION}`);
}

/** Python's `f"{value:.Nf}"`, where N is the number of digits. */
export function fixed(value: Value, digits: number): string {
  const number = asNumber(value);
  if (number === undefined) throw new PyError('ValueError', `Unknown format code 'f' for object of type '${typeName(value)}'`);
  const x = toFloat(number);
  if (!Number.isFinite(x)) return floatRepr(x);
  const { top, bottom } = ratio(Math.abs(x));
  const all = String(divideRound(top * 10n ** BigInt(digits), bottom)).padStart(digits + 1, '0');
  const whole = all.slice(0, all.length - digits);
  return `${x < 0 || Object.is(x, -0) ? '-' : ''}${whole}${digits > 0 ? `.${all.slice(-digits)}` : ''}`;
}

/** The most bits of an int that a power makes here. Python has no limit, but no one reads such an int. */
const MOST_BITS = 4_000_000;

/** Python's `base ** exponent`. */
export function power(base: Value, exponent: Value): Value {
  const [x, y] = [asNumber(base), asNumber(exponent)];
  if (x === undefined || y === undefined)
    throw typeError(`unsupported operand type(s) for ** or pow(): '${typeName(base)}' and '${typeName(exponent)}'`);
  if (typeof x === 'bigint' && typeof y === 'bigint' && y >= 0n) {
    if (x * x > 1n && BigInt(bitLength(x)) * y > MOST_BITS) throw new PyError('MemoryError', `the result has more than ${MOST_BITS} bits`);
    return x * x > 1n ? x ** y : y === 0n || x === 1n || (x === -1n && y % 2n === 0n) ? 1n : x;
  }
  return floatPower(toFloat(x), toFloat(y));
}

function floatPower(x: number, y: number): Value {
  // C's pow has these results, JavaScript's has not.
  if (x === 1 || y === 0 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  if (x === 0 && y < 0) throw new PyError('ZeroDivisionError', '0.0 cannot be raised to a negative power');
  if (!Number.isFinite(x) || !Number.isFinite(y) || x === 0) return x ** y;
  if (x < 0 && !Number.isInteger(y)) return complexPower(x, y);
  const result = exactPower(x, y);
  if (!Number.isFinite(result)) throw new PyError('OverflowError', "(34, 'Numerical result out of range')");
  return result;
}

/** A negative float to a power that is not whole. Only its text is needed. */
function complexPower(x: number, y: number): Value {
  const size = exactPower(-x, y);
  const [real, imaginary] = cosSin(Math.PI * y).map((part) => size * part) as [number, number];
  if (!Number.isFinite(real) || !Number.isFinite(imaginary)) throw new PyError('OverflowError', 'complex exponentiation');
  const short = (part: number) => floatRepr(part).replace(/\.0$/, '');
  return new Printed('complex', `(${short(real)}${imaginary < 0 || Object.is(imaginary, -0) ? '' : '+'}${short(imaginary)}j)`);
}
