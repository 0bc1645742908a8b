/** @file Logarithms and powers with as many bits as wanted, in fixed-point arithmetic on ints. */
import { bitLength, quotientOf } from './operations.ts';

/** ln(m / 2^bits) · 2^bits for m / 2^bits in [0.5, 2], by ln(v) = 2·atanh((v − 1) / (v + 1)). */
function logNearOne(m: bigint, bits: number): bigint {
  const one = 1n << BigInt(bits);
  const t = ((m - one) << BigInt(bits)) / (m + one);
  const square = (t * t) >> BigInt(bits);
  let [term, sum] = [t, t];
  for (let k = 3n; term !== 0n && term !== -1n; k += 2n) {
    term = (term * square) >> BigInt(bits);
    sum += term / k;
  }
  return 2n * sum;
}

const LN2 = new Map<number, bigint>();

/** ln(2) · 2^bits. */
function ln2(bits: number): bigint {
  let value = LN2.get(bits);
  if (value === undefined) LN2.set(bits, (value = -logNearOne(1n << BigInt(bits + 7), bits + 8) >> 8n));
  return value;
}

/** ln(m · 2^e) · 2^bits for m > 0, with an error of a few units. */
export function fixedLog(m: bigint, e: number, bits: number): bigint {
  const wide = bits + 8;
  // Takes the number to [0.75, 1.5), where the series is short.
  let shift = bitLength(m);
  if (m * 4n < 3n << BigInt(shift)) shift -= 1;
  const value = wide >= shift ? m << BigInt(wide - shift) : m >> BigInt(shift - wide);
  return (logNearOne(value, wide) + BigInt(e + shift) * ln2(wide)) >> 8n;
}

/** π · 2^bits, by Machin's formula. */
export function fixedPi(bits: number): bigint {
  const wide = BigInt(bits + 16);
  const arctan = (x: bigint) => {
    let power = (1n << wide) / x;
    let sum = power;
    for (let k = 3n, sign = -1n; power > 0n; k += 2n, sign = -sign) {
      power /= x * x;
      sum += (sign * power) / k;
    }
    return sum;
  };
  return (16n * arctan(5n) - 4n * arctan(239n)) >> 16n;
}

/** exp(x / 2^bits) · 2^bits for |x / 2^bits| < 1. */
function expSmall(x: bigint, bits: number): bigint {
  const one = 1n << BigInt(bits);
  let [term, sum] = [one, one];
  for (let k = 1n; term !== 0n && term !== -1n; k += 1n) {
    term = ((term * x) >> BigInt(bits)) / k;
    sum += term;
  }
  return sum;
}

/** A power with more bits is computed with logarithms. It is then no tie between two floats. */
const MOST_EXACT_BITS = 20_000;

/** The float nearest to (m · 2^e)^y for a whole y. */
function wholePower(m: bigint, e: number, y: number): number {
  const power = m ** BigInt(Math.abs(y));
  const shift = 1n << BigInt(Math.abs(e * y));
  const [top, bottom] = y > 0 ? [power, 1n] : [1n, power];
  return e * y >= 0 ? quotientOf(top * shift, bottom) : quotientOf(top, bottom * shift);
}

/**
 * The float nearest to x^y, for finite x ≠ 0 and finite y; y must be whole if x is negative. `Math.pow` can be wrong in its last
 * bits.
 */
export function exactPower(x: number, y: number): number {
  const sign = x < 0 && y % 2 !== 0 ? -1 : 1;
  // Very large and very small results, and the bases whose logarithm is 0.
  if (Math.abs(x) === 1) return sign;
  const log = Math.log2(Math.abs(x)) * y;
  if (log > 1100) return sign * Infinity;
  if (log < -1200) return sign * 0;
  const [m, e] = binary(Math.abs(x));
  if (Number.isInteger(y) && bitLength(m) * Math.abs(y) < MOST_EXACT_BITS) return sign * wholePower(m, e, y);
  const bits = 160;
  const [n, f] = binary(Math.abs(y));
  const product = fixedLog(m, e, bits + 64) * n;
  const size = f - 64 >= 0 ? product << BigInt(f - 64) : product >> BigInt(64 - f);
  const exponent = y < 0 ? -size : size;
  const half = exponent < 0n ? -(ln2(bits) / 2n) : ln2(bits) / 2n;
  const whole = Number((exponent + half) / ln2(bits));
  const rest = expSmall(exponent - BigInt(whole) * ln2(bits), bits);
  const scale = bits - whole;
  return sign * (scale >= 0 ? quotientOf(rest, 1n << BigInt(scale)) : quotientOf(rest << BigInt(-scale), 1n));
}

/** The positive float as m · 2^e. */
function binary(x: number): [m: bigint, e: number] {
  let e = 0;
  let value = x;
  while (!Number.isInteger(value)) {
    value *= 2;
    e -= 1;
  }
  return [BigInt(value), e];
}

/** The floats nearest to cos(x) and sin(x), for a finite x. JavaScript's can be wrong in their last bits. */
export function cosSin(x: number): [cos: number, sin: number] {
  if (Math.abs(x) < 2 ** -27) return [1, x];
  const bits = 240;
  const one = 1n << BigInt(bits);
  const [m, e] = binary(Math.abs(x));
  // For large x, the bits of the whole turns are needed too.
  const wide = bits + Math.max(0, e + 60);
  const turn = 2n * fixedPi(wide);
  const size = e + wide >= 0 ? m << BigInt(e + wide) : m >> BigInt(-e - wide);
  const angle = (size % turn) >> BigInt(wide - bits);
  let term = one;
  const sums: [bigint, bigint] = [one, 0n];
  for (let k = 1n; term !== 0n; k += 1n) {
    term = ((term * angle) >> BigInt(bits)) / k;
    sums[Number(k % 2n)]! += k % 4n < 2n ? term : -term;
  }
  return [quotientOf(sums[0], one), Math.sign(x) * quotientOf(sums[1], one)];
}
