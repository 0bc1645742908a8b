/** @file Python's texts of values: `repr`, `str` and `json.dumps`. */
import { Dict, PyError, PyObject, PySet, Tuple, typeName, type Value } from './values.ts';

/** Python's `repr` of a float: `4.0`, `1e+20`, `-0.0`, `inf`. */
export function floatRepr(x: number): string {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
  if (x === 0) return Object.is(x, -0) ? '-0.0' : '0.0';
  const size = Math.abs(x);
  // In this range JavaScript writes no exponent either. It writes one only below 1e-6 and from 1e21 on.
  if (size >= 1e-4 && size < 1e16) return Number.isInteger(x) ? `${x}.0` : String(x);
  const [digits, exponent] = x.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** CPython refuses to print longer ints, and to read them. */
export const MOST_DIGITS = 4300;

function intText(value: bigint): string {
  const text = String(value);
  if (text.length - (value < 0n ? 1 : 0) > MOST_DIGITS)
    throw new PyError(
      'ValueError',
      `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`,
    );
  return text;
}

const ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };
/** Characters for which `str.isprintable` is false, and the backslash. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\\]|(?! )\p{Zs}/gu;

function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(UNPRINTABLE, (char) => {
    const code = char.codePointAt(0)!;
    const hex = code.toString(16);
    return (
      ESCAPES[char] ??
      (code < 256 ? `\\x${hex.padStart(2, '0')}` : code < 65536 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`)
    );
  });
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

/** Python's `repr(value)`. @throws {PyError} for an int with too many digits */
export function repr(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return intText(value);
  if (typeof value === 'number') return floatRepr(value);
  if (typeof value === 'string') return stringRepr(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (value instanceof Dict)
    return `{${value
      .entries()
      .map(([key, child]) => `${repr(key)}: ${repr(child)}`)
      .join(', ')}}`;
  if (value instanceof Tuple) return value.items.length === 1 ? `(${repr(value.items[0]!)},)` : `(${value.items.map(repr).join(', ')})`;
  if (value instanceof PySet) return value.items().length === 0 ? 'set()' : `{${value.items().map(repr).join(', ')}}`;
  return value.repr();
}

/** Python's `str(value)`. */
export const str = (value: Value): string => (typeof value === 'string' ? value : repr(value));

const SHORT: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };

/** A text in ASCII JSON. */
export const quote = (text: string): string =>
  `"${text.replace(/["\\]|[^ -~]/g, (c) => SHORT[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

const jsonFloat = (x: number) => (Number.isFinite(x) ? floatRepr(x) : Number.isNaN(x) ? 'NaN' : x > 0 ? 'Infinity' : '-Infinity');

function jsonKey(key: Value, { ascii = true }: JsonFormat): string {
  if (typeof key === 'string') return ascii ? quote(key) : JSON.stringify(key);
  if (key === null || typeof key === 'boolean') return `"${String(key)}"`;
  if (typeof key === 'bigint') return `"${intText(key)}"`;
  if (typeof key === 'number') return `"${jsonFloat(key)}"`;
  throw new PyError('TypeError', `keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

export interface JsonFormat {
  /** The spaces of each level. Default: everything in one line. */
  indent?: number;
  /** False keeps characters that are not ASCII. */
  ascii?: boolean;
}

/**
 * Python's `json.dumps` with the separators `", "` and `": "`.
 * @throws {PyError} for a value that JSON has not
 */
export function dumps(value: Value, format: JsonFormat = {}, depth = 0): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return intText(value);
  if (typeof value === 'number') return jsonFloat(value);
  const { indent = 0, ascii = true } = format;
  if (typeof value === 'string') return ascii ? quote(value) : JSON.stringify(value);
  if (value instanceof PyObject || value instanceof PySet)
    throw new PyError('TypeError', `Object of type ${typeName(value)} is not JSON serializable`);
  const wrapped = (open: string, parts: string[], close: string) => {
    if (indent === 0 || parts.length === 0) return `${open}${parts.join(', ')}${close}`;
    const line = (level: number) => `\n${' '.repeat(indent * level)}`;
    return `${open}${line(depth + 1)}${parts.join(`,${line(depth + 1)}`)}${line(depth)}${close}`;
  };
  const inner = (child: Value) => dumps(child, format, depth + 1);
  if (value instanceof Dict)
    return wrapped(
      '{',
      value.entries().map(([key, child]) => `${jsonKey(key, format)}: ${inner(child)}`),
      '}',
    );
  return wrapped('[', (value instanceof Tuple ? value.items : value).map(inner), ']');
}

/** The text of a call's result in BFCL and ACEBench: a text as it is, a dict as JSON if JSON can write it, and anything else as `str`. */
export function resultText(value: Value): string {
  if (!(value instanceof Dict)) return str(value);
  try {
    return dumps(value);
  } catch (cause) {
    if (cause instanceof PyError) return str(value);
    throw cause;
  }
}
