/**
 * @file tau-bench's tool `calculate` without eval. It supports Python's arithmetic with the characters `0123456789+-*\/(). `,
 * which includes `**` and `//`, with integers of any size and floats. The result is `str(round(float(value), 2))`.
 */
import { Refusal, sequence } from '../exact/arguments.ts';
import { divide, toFloat } from '../../python/operations.ts';
import { floatRepr, MOST_DIGITS } from '../../python/text.ts';
import { round2 } from '../exact/python.ts';
import type { Json } from '../../records/json.ts';

type Value = bigint | number;

const MAX_BITS = 100_000;
const MAX_DEPTH = 150;

/** Reads the argument of `calculate`. Python's `for char in expression` also accepts a list, and uses its entries as characters. */
export function expressionText(expression: Json, invalid: string): string {
  if (typeof expression === 'string') return expression;
  for (const part of sequence(expression, 'expression')) {
    if (typeof part !== 'string') break;
    if (!'0123456789+-*/(). '.includes(part)) throw new Refusal(invalid);
  }
  throw new Refusal('expression must be a string');
}

/** @throws {Error} with Python's error text where Python has one, or with `invalid` if there are other characters */
export function calculate(expression: string, invalid = 'invalid characters in expression'): string {
  if (/[^0-9+\-*/(). ]/.test(expression)) throw new Error(invalid);
  return floatRepr(round2(toFloat(new Parser(expression).value())));
}

class Parser {
  private readonly tokens: string[];
  private at = 0;
  private depth = 0;

  constructor(expression: string) {
    this.tokens = expression.match(/\d+\.?\d*|\.\d+|\*\*|\/\/|[^ ]/g) ?? [];
  }

  value(): Value {
    const value = this.sum();
    if (this.at < this.tokens.length) throw new Error(`invalid syntax: unexpected '${this.tokens[this.at]}'`);
    return value;
  }

  private take(...wanted: string[]): string | undefined {
    return wanted.includes(this.tokens[this.at]!) ? this.tokens[this.at++] : undefined;
  }

  private sum(): Value {
    let left = this.product();
    for (let op; (op = this.take('+', '-'));) left = arithmetic(op, left, this.product());
    return left;
  }

  private product(): Value {
    let left = this.sign();
    for (let op; (op = this.take('*', '/', '//'));) left = arithmetic(op, left, this.sign());
    return left;
  }

  private sign(): Value {
    if (++this.depth > MAX_DEPTH) throw new Error('expression is nested too deeply');
    const op = this.take('+', '-');
    const value = op === '-' ? negate(this.sign()) : op ? this.sign() : this.power();
    this.depth--;
    return value;
  }

  /** `**` binds more strongly than a sign on its left, but less strongly than a sign on its right. It is right-associative. */
  private power(): Value {
    const base = this.atom();
    return this.take('**') ? power(base, this.sign()) : base;
  }

  private atom(): Value {
    if (this.take('(')) {
      const value = this.sum();
      if (!this.take(')')) throw new Error("invalid syntax: '(' was never closed");
      return value;
    }
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Error('invalid syntax: the expression ends too early');
    if (!/\d/.test(token)) throw new Error(`invalid syntax: unexpected '${token}'`);
    if (token.includes('.')) return Number(token);
    if (token.length > MOST_DIGITS) throw new Error(`a number has ${token.length} digits; at most ${MOST_DIGITS} are allowed`);
    if (/^0+[1-9]/.test(token)) throw new Error('leading zeros in decimal integer literals are not permitted');
    return BigInt(token);
  }
}

function negate(value: Value): Value {
  return -value as Value;
}

function arithmetic(op: string, a: Value, b: Value): Value {
  if (op === '/') return divide(a, b) as number;
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    switch (op) {
      case '+':
        return bounded(a + b);
      case '-':
        return bounded(a - b);
      case '*':
        return bounded(a * b);
      default:
        return floorDivide(a, b);
    }
  }
  const x = toFloat(a),
    y = toFloat(b);
  switch (op) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    default: {
      if (y === 0) throw new Error('float floor division by zero');
      // Like CPython, compute the quotient from the exact remainder: floor(x / y) is wrong if x / y rounds up to an integer.
      const remainder = x % y;
      let quotient = (x - remainder) / y;
      if (remainder !== 0 && remainder < 0 !== y < 0) quotient -= 1;
      if (quotient === 0) return x / y < 0 ? -0 : 0;
      const floor = Math.floor(quotient);
      return quotient - floor > 0.5 ? floor + 1 : floor;
    }
  }
}

function floorDivide(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new Error('integer division or modulo by zero');
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

function power(base: Value, exponent: Value): Value {
  if (typeof base === 'bigint' && typeof exponent === 'bigint' && exponent >= 0n) {
    if (base * base > 1n && BigInt(bits(base)) * exponent > BigInt(MAX_BITS)) throw new Error('the power is too large');
    return base ** exponent;
  }
  const x = toFloat(base),
    y = toFloat(exponent);
  if (x === 0 && y < 0) throw new Error('0.0 cannot be raised to a negative power');
  if (x < 0 && Number.isFinite(x) && !Number.isInteger(y)) throw new Error('the result is not a real number');
  const value = x === 1 ? 1 : x ** y;
  if (!Number.isFinite(value) && Number.isFinite(x) && Number.isFinite(y)) throw new Error('the result is too large for a float');
  return value;
}

function bounded(value: bigint): bigint {
  if (bits(value) > 2 * MAX_BITS) throw new Error('the result is too large');
  return value;
}

function bits(value: bigint): number {
  return (value < 0n ? -value : value).toString(16).length * 4;
}
