/** @file Functions of CPython on which tau-bench's observations and amounts depend. */

import { floatRepr, quote } from '../../python/text.ts';

/** A value that `pythonJson` can print. A Map prints as an object whose keys keep their order, even if they look like integers. */
export type Printable =
  null | boolean | number | string | readonly Printable[] | ReadonlyMap<string, Printable> | { readonly [key: string]: Printable };

/** Python's `round(x, 2)`: rounds the exact binary value; a tie goes to the even digit. */
export function round2(x: number): number {
  // Only a multiple of 1/8 can be a tie at the third decimal. `toFixed` computes exactly, but rounds ties away from zero.
  if (Math.abs(x) < 2 ** 40 && Number.isInteger(x * 8) && !Number.isInteger(x * 4)) {
    const below = Math.floor(x * 100);
    return (below % 2 === 0 ? below : below + 1) / 100;
  }
  return x !== 0 && Math.abs(x) < 2 ** 52 ? Number(x.toFixed(2)) : x;
}

/** Python's `json.dumps` with its defaults: separators ", " and ": ", only ASCII. Numbers without a fraction print as integers. */
export function pythonJson(value: Printable): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e16 ? String(value) : floatRepr(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  const entries =
    value instanceof Map ? [...(value as ReadonlyMap<string, Printable>)] : Object.entries(value as Record<string, Printable>);
  return `{${entries.map(([key, child]) => `${quote(key)}: ${pythonJson(child)}`).join(', ')}}`;
}

/** Python's `str` of a JSON value, for texts that quote an argument. */
export function pythonStr(value: Printable, nested = false): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e16 ? String(value) : floatRepr(value);
  if (typeof value === 'string')
    return nested
      ? value.includes("'") && !value.includes('"')
        ? `"${value}"`
        : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
      : value;
  if (Array.isArray(value)) return `[${value.map((child) => pythonStr(child as Printable, true)).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, child]) => `${pythonStr(key, true)}: ${pythonStr(child as Printable, true)}`)
    .join(', ')}}`;
}
