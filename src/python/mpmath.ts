/**
 * @file The quotient of two logarithms as mpmath 1.3.0 computes and prints it: each logarithm is rounded to the working precision,
 * and then their quotient.
 */
import { checkPrecision, int, MOST_PRECISION, round, takeApart } from './conversions.ts';
import { absolute, bitLength, roundShift, typeError } from './operations.ts';
import { fixedLog, fixedPi } from './power.ts';
import { repr } from './text.ts';
import { Printed, PyError, type Value } from './values.ts';

/** A finite number m · 2^e, or an infinity or NaN. */
type Mpf = { m: bigint; e: number } | number;
const ZERO: Mpf = { m: 0n, e: 0 };

/** The whole number nearest to x. A tie goes to the even number. */
const halfEven = (x: number): number => Number(round(x, null));

const BITS_PER_DIGIT = 3.3219280948873626;

/** Rounds half to even; `down` rounds toward zero. */
function rounded(m: bigint, e: number, bits: number, down = false): Mpf {
  const extra = bitLength(m) - bits;
  if (extra <= 0) return { m, e };
  return { m: down ? (m < 0n ? -(-m >> BigInt(extra)) : m >> BigInt(extra)) : roundShift(m, extra), e: e + extra };
}

const sign = (x: Mpf) => (typeof x === 'number' ? Math.sign(x) : x.m > 0n ? 1 : x.m < 0n ? -1 : 0);
const asFloat = (x: Mpf) => (typeof x === 'number' ? x : sign(x));

function times(x: Mpf, y: Mpf): Mpf {
  if (typeof x === 'number' || typeof y === 'number') return asFloat(x) * asFloat(y);
  return { m: x.m * y.m, e: x.e + y.e };
}

function plus(x: Mpf, y: Mpf, bits: number): Mpf {
  if (typeof x === 'number' || typeof y === 'number') return (typeof x === 'number' ? x : 0) + (typeof y === 'number' ? y : 0);
  const e = Math.min(x.e, y.e);
  return rounded((x.m << BigInt(x.e - e)) + (y.m << BigInt(y.e - e)), e, bits, true);
}

const minus = (x: Mpf): Mpf => (typeof x === 'number' ? -x : { m: -x.m, e: x.e });

/** @throws {PyError} if `y` is 0 */
function over(x: Mpf, y: Mpf, bits: number): Mpf {
  if (sign(y) === 0 && typeof y !== 'number') throw new PyError('ZeroDivisionError', '');
  if (typeof x === 'number') return typeof y === 'number' ? NaN : x * sign(y);
  if (typeof y === 'number') return Number.isNaN(y) ? NaN : ZERO;
  const shift = Math.max(0, bits - bitLength(x.m) + bitLength(y.m) + 5);
  const top = absolute(x.m) << BigInt(shift);
  const bottom = absolute(y.m);
  // The last bit says whether the rest is not 0, so the quotient is rounded only once.
  const whole = ((top / bottom) << 1n) | (top % bottom === 0n ? 0n : 1n);
  return rounded(x.m < 0n === y.m < 0n ? whole : -whole, x.e - y.e - shift - 1, bits);
}

/** ln |x|, rounded to `bits`. */
function logOf(x: Mpf, bits: number): Mpf {
  if (typeof x === 'number') return Math.abs(x);
  if (x.m === 0n) return -Infinity;
  const m = absolute(x.m);
  for (let extra = 40; ; extra *= 2) {
    const wide = bits + extra;
    const value = fixedLog(m, x.e, wide);
    // Near 1 the leading bits of the logarithm are 0.
    if (bitLength(value) >= bits + 20) return rounded(value, -wide, bits);
    if (m === 1n << BigInt(bitLength(m) - 1) && bitLength(m) - 1 + x.e === 0) return ZERO;
  }
}

/** @throws {PyError} if the value is no number */
function convert(value: Value, bits: number): Mpf {
  if (typeof value === 'boolean' || typeof value === 'bigint') return { m: BigInt(value), e: 0 };
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return value;
    const { mantissa, exponent } = takeApart(value);
    return { m: mantissa, e: exponent };
  }
  const read = typeof value === 'string' ? fromText(value, bits) : undefined;
  if (read === undefined) throw typeError(`cannot create mpf from ${repr(value)}`);
  return read;
}

const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/;

function fromText(value: string, bits: number): Mpf | undefined {
  const text = value.toLowerCase().trim();
  const special = { inf: Infinity, '+inf': Infinity, '-inf': -Infinity, nan: NaN }[text];
  if (special !== undefined) return special;
  const fraction = /^([-+]?\d+)l*\/([-+]?\d+)l*$/.exec(text.replaceAll(' ', ''));
  const whole = (digits: string): Mpf => ({ m: BigInt(digits.replace('+', '')), e: 0 });
  if (fraction) return over(whole(fraction[1]!), whole(fraction[2]!), bits);
  const [, minusSign, before = '', after = '', power = '0'] = DECIMAL.exec(text.replace(/l+$/, '')) ?? [];
  if (before + after === '') return undefined;
  const digits = BigInt(before + after) * (minusSign === '-' ? -1n : 1n);
  const exponent = Number(power) - after.length;
  if (Math.abs(exponent) > MOST_PRECISION) return undefined;
  if (exponent >= 0) return rounded(digits * 10n ** BigInt(exponent), 0, bits);
  return over({ m: digits, e: 0 }, { m: 10n ** BigInt(-exponent), e: 0 }, bits);
}

/** @param digits mpmath's `dps` @throws {PyError} as mpmath does */
export function logarithm(value: Value, base: Value, digits: Value): Value {
  const places = int(digits);
  checkPrecision(places);
  const bits = Math.max(1, halfEven((Number(places) + 1) * BITS_PER_DIGIT));
  const number = convert(value, bits);
  const a = { re: logOf(number, bits), im: sign(number) < 0 };
  const other = convert(base, bits);
  const b = { re: logOf(other, bits), im: sign(other) < 0 };
  const pi: Mpf = rounded(fixedPi(bits + 40), -(bits + 40), bits);
  if (!a.im && !b.im) return new Printed('mpf', `mpf('${print(over(a.re, b.re, bits), bits)}')`);
  const [re, im] = complexQuotient([a.re, a.im ? pi : null], [b.re, b.im ? pi : null], bits);
  return new Printed('mpc', `mpc(real='${print(re, bits)}', imag='${print(im, bits)}')`);
}

/** Null is the imaginary part of a real number. */
function complexQuotient([a, b]: [Mpf, Mpf | null], [c, d]: [Mpf, Mpf | null], bits: number): [Mpf, Mpf] {
  if (d === null) return [over(a, c, bits), over(b!, c, bits)];
  const wide = bits + 10;
  const size = plus(times(c, c), times(d, d), wide);
  if (b === null) return [over(times(c, a), size, bits), over(minus(times(d, a)), size, bits)];
  const real = plus(times(a, c), times(b, d), wide);
  const imaginary = plus(times(b, c), minus(times(a, d)), wide);
  return [over(real, size, bits), over(imaginary, size, bits)];
}

/** mpmath's `repr` of a number: with enough digits to read the number back. */
function print(x: Mpf, bits: number): string {
  if (typeof x === 'number') return Number.isNaN(x) ? 'nan' : x > 0 ? '+inf' : '-inf';
  if (x.m === 0n) return '0.0';
  const dps = Math.max(1, halfEven(bits / BITS_PER_DIGIT) - 1);
  const most = dps === 15 ? 17 : dps + 3;
  const cut = digitsOf(x, most + 3);
  let { digits, exponent } = cut;
  const up = digits.length > most && digits[most]! >= '5';
  digits = digits.slice(0, most);
  if (up) {
    digits = String(BigInt(digits) + 1n);
    if (digits.length > most) {
      digits = digits.slice(0, most);
      exponent += 1;
    }
  }
  let split = 1;
  if (Math.min(-Math.floor(most / 3), -5) < exponent && exponent < most) {
    if (exponent < 0) digits = '0'.repeat(-exponent) + digits;
    else split = exponent + 1;
    exponent = 0;
  }
  const text = `${digits.slice(0, split)}.${digits.slice(split)}`.replace(/0+$/, '').replace(/\.$/, '.0');
  return `${x.m < 0n ? '-' : ''}${text}${exponent === 0 ? '' : `e${exponent > 0 ? '+' : ''}${exponent}`}`;
}

/** The decimal digits of |x|, cut off after at least `count` digits, and the exponent of the first digit. */
function digitsOf(x: { m: bigint; e: number }, count: number): { digits: string; exponent: number } {
  const m = absolute(x.m);
  const wanted = Math.trunc(count * Math.log2(10)) + 10;
  const bits = Math.max(wanted - x.e - bitLength(m), 0);
  const places = Math.trunc(bits / Math.log2(10) + 0.5);
  const shift = x.e + bits;
  const fixed = shift >= 0 ? m << BigInt(shift) : m >> BigInt(-shift);
  const digits = String((fixed * 10n ** BigInt(places)) >> BigInt(bits));
  return { digits, exponent: digits.length - places - 1 };
}
