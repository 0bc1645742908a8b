/** @file Reads the numbers and strings of Python source. */
import { MOST_DIGITS } from './text.ts';
import { Printed, type Value } from './values.ts';

export interface Constant {
  kind: 'constant';
  value: Value;
  /** Whether the constant is written as simply as possible: no prefix, no three quotes, no `_`, not of several parts. */
  plain: boolean;
  /** Whether it is a string with a prefix `f`. Its value is then not known. */
  formatted?: true;
}

/** A fault of Python source. The message says what is wrong. */
export class SourceError extends Error {}

const NUMBER =
  /(?:0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][-+]?\d(?:_?\d)*)?[jJ]?)/y;

/** Reads the number at a place of the text. @throws {SourceError} */
export function readNumber(text: string, at: number): { node: Constant; end: number } {
  NUMBER.lastIndex = at;
  const found = NUMBER.exec(text)?.[0];
  if (found === undefined) throw new SourceError('invalid syntax');
  const end = at + found.length;
  if (/[\p{L}\p{N}_]/u.test(text[end] ?? '')) throw new SourceError('invalid decimal literal');
  const digits = found.replaceAll('_', '');
  return { node: { kind: 'constant', value: numberOf(digits), plain: digits === found }, end };
}

function numberOf(digits: string): Value {
  if (/^0[xob]/i.test(digits)) return BigInt(digits.toLowerCase());
  if (/j$/i.test(digits)) return new Printed('complex', `${Number(digits.slice(0, -1))}j`);
  if (/[.e]/i.test(digits)) return Number(digits);
  if (/^0+[1-9]/.test(digits)) throw new SourceError('leading zeros in decimal integer literals are not permitted');
  if (digits.length > MOST_DIGITS) throw new SourceError(`an int has more than ${MOST_DIGITS} digits`);
  return BigInt(digits);
}

const OPENING = /([rRuUbBfF]{0,2})('''|"""|'|")/y;

/** Whether a string begins at this place. */
export function stringAt(text: string, at: number): boolean {
  OPENING.lastIndex = at;
  return OPENING.test(text);
}

const SIMPLE: Record<string, string> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const CODED = /x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})/y;

/** Reads the string at a place where `stringAt` is true. @throws {SourceError} */
export function readString(text: string, start: number): { node: Constant; end: number } {
  OPENING.lastIndex = start;
  const [opening, prefix, quotes] = OPENING.exec(text) as unknown as [string, string, string];
  const kind = prefix.toLowerCase();
  if (!['', 'r', 'u', 'b', 'f', 'br', 'rb', 'fr', 'rf'].includes(kind)) throw new SourceError('invalid prefix of a string');
  const raw = kind.includes('r');
  let value = '';
  let at = start + opening.length;
  while (!text.startsWith(quotes, at)) {
    const char = text[at];
    if (char === undefined || (char === '\n' && quotes.length === 1)) throw new SourceError('unterminated string literal');
    if (char !== '\\') {
      value += char;
      at += 1;
    } else if (raw) {
      value += text.slice(at, at + 2);
      at += 2;
    } else {
      const escape = readEscape(text, at + 1, kind === 'b');
      value += escape.value;
      at = escape.end;
    }
  }
  const node: Constant = {
    kind: 'constant',
    value: kind.includes('b') ? new Printed('bytes', `b'${value}'`) : value,
    plain: kind === '' && quotes.length === 1,
    ...(kind.includes('f') && { formatted: true as const }),
  };
  return { node, end: at + quotes.length };
}

/** Reads what follows a backslash. An unknown escape stays as it is. */
function readEscape(text: string, at: number, bytes: boolean): { value: string; end: number } {
  const char = text[at];
  if (char === undefined) throw new SourceError('unterminated string literal');
  CODED.lastIndex = at;
  const [coded, x, u, U, octal] = CODED.exec(text) ?? [];
  if (coded !== undefined && !(bytes && /^u/i.test(coded))) {
    const code = octal === undefined ? parseInt((x ?? u ?? U)!, 16) : parseInt(octal, 8);
    if (code > 0x10ffff) throw new SourceError('illegal Unicode character');
    return { value: String.fromCodePoint(code), end: at + coded.length };
  }
  if (!bytes && /[xuUN]/.test(char)) throw new SourceError(`the escape \\${char} is not complete, or not supported`);
  return { value: SIMPLE[char] ?? `\\${char}`, end: at + 1 };
}
