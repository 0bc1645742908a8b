/** @file Python's methods of texts, where they differ from JavaScript's. */
import { textFor, typeError } from './operations.ts';
import { repr, str } from './text.ts';
import { PyError, typeName, type Value } from './values.ts';

/** The separators of files, groups and records are line ends; that of units is only white space. */
const SEPARATORS = String.fromCharCode(0x1c, 0x1d, 0x1e);
const LINE_END = new RegExp(`\r\n|[\n\r\v\f${SEPARATORS}\x85\u2028\u2029]`);
const SPACE = new RegExp(`[\\t-\\r${SEPARATORS}${String.fromCharCode(0x1f)} \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+`);

/** Python's `text.splitlines()`: it also splits at a form feed and at other separators. */
export function splitLines(text: string): string[] {
  const lines = text.split(LINE_END);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** `value.splitlines()`. @throws {PyError} if the value is no text */
export const linesOf = (value: Value): string[] => splitLines(textFor('splitlines', value));

/** `value.lower()`. @throws {PyError} if the value is no text */
export const lower = (value: Value): string => textFor('lower', value).toLowerCase();

/** Python's `text.split()`, at white space. */
export const splitWords = (text: string): string[] => text.split(SPACE).filter((word) => word !== '');

/** Python's `text.strip()`. */
export const strip = (text: string): string => text.replace(new RegExp(`^${SPACE.source}|${SPACE.source}$`, 'g'), '');

/** Python's `text.isdigit()` for a text of decimal digits. */
export const isDigits = (text: string): boolean => /^[\p{Nd}]+$/u.test(text);

const FORMATS = {
  '%Y-%m-%d': /^(\d{4})-(1[0-2]|0[1-9]|[1-9])-(3[01]|[12]\d|0[1-9]|[1-9]| [1-9])/,
  '%Y-%m-%d %H:%M:%S':
    /^(\d{4})-(1[0-2]|0[1-9]|[1-9])-(3[01]|[12]\d|0[1-9]|[1-9]| [1-9])\s+(2[0-3]|[01]\d|\d):([0-5]\d|\d):(6[01]|[0-5]\d|\d)/,
};

/**
 * Python's `datetime.strptime(text, format)`, as milliseconds since 1970 in UTC.
 * @throws {PyError} ValueError if the text does not have the format or is no date; TypeError if it is no text
 */
export function parseTime(text: Value, format: keyof typeof FORMATS): number {
  if (typeof text !== 'string') {
    const type = text === null ? 'None' : typeName(text);
    throw typeError(`strptime() argument 1 must be str, not ${type}`);
  }
  const found = FORMATS[format].exec(text);
  if (!found) throw new PyError('ValueError', `time data ${repr(text)} does not match format ${repr(format)}`);
  if (found[0].length < text.length) throw new PyError('ValueError', `unconverted data remains: ${text.slice(found[0].length)}`);
  const [year, month, day, hour = 0, minute = 0, second = 0] = found
    .slice(1)
    .filter((part) => part !== undefined)
    .map(Number) as [number, number, number, number?, number?, number?];
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  if (year === 0 || time.getUTCDate() !== day) throw new PyError('ValueError', 'day is out of range for month');
  if (second > 59) throw new PyError('ValueError', 'second must be in 0..59');
  return time.setUTCHours(hour, minute, second);
}

/** Python's f-string. */
export const f = (parts: TemplateStringsArray, ...values: Value[]): string =>
  parts.map((part, i) => (i === 0 ? part : str(values[i - 1]!) + part)).join('');

/** Python's `template.format(**fields)`, but braces around other names stay. */
export const filled = (template: string, fields: Record<string, string>): string =>
  template.replace(/\{(\w+)\}/g, (own, name: string) => (Object.hasOwn(fields, name) ? fields[name]! : own));
