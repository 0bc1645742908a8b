// @ts-check
/** Reads and checks flags. Every error names the flag, its value and the expected value. */
import { parseArgs } from 'node:util';
import { UsageError } from './errors.mjs';

/**
 * A flag of a command.
 * @typedef {object} Flag
 * @property {'string' | 'boolean' | 'integer' | 'number' | 'list'} type
 * @property {string} [value] placeholder of the value in the help
 * @property {string} help
 * @property {string | number} [default]
 * @property {boolean} [required]
 * @property {number} [min]
 * @property {number} [max]
 * @property {string[]} [choices]
 */
/** @typedef {Record<string, Flag>} Flags */

const MAX_SEED = 0xffffffff;
/** @type {Flag} */
export const SEED = { type: 'integer', value: 'S', help: 'seed of everything random', default: 1, min: 0, max: MAX_SEED };

/**
 * @param {string[]} args arguments after the command's name
 * @param {Flags} flags
 * @returns {Record<string, any>} values by flag name, in camelCase, with defaults filled in
 * @throws {UsageError}
 */
export function readFlags(args, flags) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type }]) => [
      name,
      { type: /** @type {'string' | 'boolean'} */ (type === 'boolean' ? 'boolean' : 'string'), multiple: true },
    ]),
  );
  let values;
  try {
    ({ values } = parseArgs({ args: joinNegatives(args, flags), options, strict: true, allowPositionals: false }));
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message.split('. ')[0].replace(/\s+/g, ' '));
  }
  /** @type {Record<string, any>} */
  const result = {};
  for (const [name, flag] of Object.entries(flags)) {
    const given = /** @type {(string | boolean)[]} */ (values[name] ?? []);
    if (given.length > 1 && flag.type !== 'list') throw new UsageError(`--${name} is given ${given.length} times: expected once`);
    if (given.length === 0 && flag.required) throw new UsageError(`--${name} is missing: expected --${name} ${flag.value ?? 'VALUE'}`);
    result[camelCase(name)] = flag.type === 'list' ? given : given.length === 0 ? flag.default : readValue(name, flag, given[0]);
  }
  return result;
}

/**
 * Joins `--count -3` to `--count=-3`, because parseArgs would report a missing value instead of a value out of range.
 * @param {string[]} args
 * @param {Flags} flags
 */
function joinNegatives(args, flags) {
  /** @type {string[]} */
  const joined = [];
  for (const arg of args) {
    const flag = joined.at(-1)?.match(/^--([^=]+)$/)?.[1];
    const numeric = flag !== undefined && ['integer', 'number'].includes(flags[flag]?.type ?? '');
    if (numeric && /^-[\d.]/.test(arg)) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/**
 * @param {string} name
 * @param {Flag} flag
 * @param {string | boolean} raw
 */
function readValue(name, flag, raw) {
  if (flag.type === 'integer' || flag.type === 'number') return readNumber(`--${name}`, String(raw), flag);
  if (raw === '') throw new UsageError(`--${name} is empty: expected ${flag.value ?? 'a value'}`);
  if (flag.choices && !flag.choices.includes(String(raw)))
    throw new UsageError(`--${name} is "${raw}": expected ${flag.choices.join(', ')}`);
  return raw;
}

/**
 * @param {string} what
 * @param {string} raw
 * @param {{ type: string, min?: number, max?: number }} range
 */
export function readNumber(what, raw, { type, min = -Infinity, max = Infinity }) {
  const value = raw.trim() === '' ? NaN : Number(raw);
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  const bounds = `${min > -Infinity ? ` from ${min}` : ''}${max < Infinity ? ` to ${max}` : min > -Infinity ? ' up' : ''}`;
  const valid = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!valid || value < min || value > max) throw new UsageError(`${what} is "${raw}": expected ${kind}${bounds}`);
  return value;
}

/**
 * `key=value` pairs of a repeated flag.
 * @param {string} flag
 * @param {string[]} pairs
 * @returns {Record<string, string>}
 */
export function readPairs(flag, pairs) {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`--${flag} is "${pair}": expected key=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** @param {string} name */
const camelCase = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
