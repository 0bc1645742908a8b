/** @file The square root of Python's module `decimal`. */
import { checkPrecision, ratio } from './conversions.ts';
import { bitLength, divideRound, less, typeError } from './operations.ts';
import { asNumber, Printed, PyError, typeName, type Value } from './values.ts';

/** A decimal number: `digits` · 10^`exponent`. */
interface Decimal {
  digits: bigint;
  exponent: number;
}

/** The float exactly, as `Decimal(float)`. */
function exact(x: number): Decimal {
  const { top, bottom } = ratio(x);
  let [t, b, places] = [top, bottom, 0];
  while (t % 2n === 0n && b > 1n) [t, b] = [t / 2n, b / 2n];
  while (b > 1n) {
    t *= 5n;
    b /= 2n;
    places += 1;
  }
  return { digits: t, exponent: -places };
}

/**
 * `Decimal(value).sqrt()` with `precision` digits, rounded half to even. The result is only printed.
 * @throws {PyError} if the precision is not valid
 */
export function squareRoot(value: Value, precision: Value): Value {
  const number = asNumber(value);
  if (number === undefined) throw typeError(`conversion from ${typeName(value)} to Decimal is not supported`);
  if (less(number, 0n)) throw new PyError('InvalidOperation', 'the number is negative');
  if (typeof precision !== 'bigint' && typeof precision !== 'boolean') throw typeError('an integer is required');
  const most = BigInt(precision);
  if (BigInt.asIntN(64, most) !== most) throw new PyError('OverflowError', 'Python int too large to convert to C ssize_t');
  if (most < 1n || most > 999999999999999999n) throw new PyError('ValueError', 'valid range for prec is [1, MAX_PREC]');
  checkPrecision(most);
  if (number === Infinity) return new Printed('Decimal', "Decimal('Infinity')");
  if (Object.is(number, -0)) return new Printed('Decimal', "Decimal('-0')");
  const root = rootOf(typeof number === 'bigint' ? { digits: number, exponent: 0 } : exact(number), Number(most));
  return new Printed('Decimal', `Decimal('${text(root)}')`);
}

/** The algorithm of Python's `_pydecimal`: the root with one digit more, which is never a tie, and then rounded. */
function rootOf({ digits, exponent }: Decimal, precision: number): Decimal {
  if (digits === 0n) return { digits, exponent: Math.floor(exponent / 2) };
  const odd = exponent % 2 !== 0;
  const count = String(digits).length;
  const places = odd ? Math.floor(count / 2) + 1 : Math.floor((count + 1) / 2);
  let c = odd ? digits * 10n : digits;
  let e = Math.floor(exponent / 2);
  const shift = precision + 1 - places;
  const unit = 10n ** BigInt(Math.abs(shift));
  let isExact = true;
  if (shift >= 0) c *= unit * unit;
  else {
    isExact = c % (unit * unit) === 0n;
    c /= unit * unit;
  }
  e -= shift;
  let n = integerRoot(c);
  if (isExact && n * n === c) {
    n = shift >= 0 ? n / unit : n * unit;
    e += shift;
  } else if (n % 5n === 0n) n += 1n;
  return rounded({ digits: n, exponent: e }, precision);
}

function rounded({ digits, exponent }: Decimal, precision: number): Decimal {
  const extra = String(digits).length - precision;
  if (extra <= 0) return { digits, exponent };
  const unit = 10n ** BigInt(extra);
  const next = { digits: divideRound(digits, unit), exponent: exponent + extra };
  return String(next.digits).length > precision ? { digits: next.digits / 10n, exponent: next.exponent + 1 } : next;
}

/** The largest int whose square is not above x. */
function integerRoot(x: bigint): bigint {
  if (x < 2n) return x;
  let root = 1n << BigInt(Math.ceil(bitLength(x) / 2));
  for (;;) {
    const next = (root + x / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** `str` of a decimal: without exponent if the exponent is at most 0 and the number is not very small. */
function text({ digits, exponent }: Decimal): string {
  const own = String(digits);
  const left = exponent + own.length;
  if (exponent <= 0 && left > -6) {
    if (exponent === 0) return own;
    return left > 0 ? `${own.slice(0, left)}.${own.slice(left)}` : `0.${'0'.repeat(-left)}${own}`;
  }
  return `${own[0]}${own.length > 1 ? `.${own.slice(1)}` : ''}E${left - 1 >= 0 ? '+' : ''}${left - 1}`;
}
