/** @file Reads and checks flags. Every error message names the flag, its value and the expected value. */
import { parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { didYouMean } from '../base/did-you-mean.ts';
import { UsageError } from './errors.ts';

/** A flag of a command. */
export interface Flag {
  type: 'string' | 'boolean' | 'integer' | 'number' | 'list';
  /** The placeholder of the value in the help text. */
  value?: string;
  help: string;
  default?: string | number | undefined;
  required?: boolean;
  min?: number;
  max?: number;
  choices?: readonly string[];
}
export type Flags = Readonly<Record<string, Flag>>;

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;
type Given<F extends Flag> = F extends { choices: readonly (infer Choice)[] }
  ? Choice
  : { string: string; boolean: boolean; integer: number; number: number; list: string[] }[F['type']];
/** The type of a flag's value. A flag without a default may be absent; a list may be empty. */
type Value<F extends Flag> = F extends { required: true } | { default: string | number } | { type: 'list' }
  ? Given<F>
  : Given<F> | undefined;
/** The values of flags, by the flags' names in camelCase. */
export type Values<F extends Flags> = { -readonly [Name in keyof F & string as CamelCase<Name>]: Value<F[Name]> };

const MAX_SEED = 0xffffffff;
export const SEED = {
  type: 'integer',
  value: 'S',
  help: 'seed of all random numbers',
  default: 1,
  min: 0,
  max: MAX_SEED,
} as const satisfies Flag;

/** The schema of stored values of flags. */
export const valuesSchema = (flags: Flags) =>
  z.object(
    Object.fromEntries(
      Object.entries(flags).map(([flag, { type, required }]) => {
        const schema = { string: z.string(), boolean: z.boolean(), integer: z.int(), number: z.number(), list: z.array(z.string()) }[type];
        return [camelCase(flag), required ? schema : z.optional(schema as z.ZodMiniType)];
      }),
    ),
  );

/**
 * @param args the arguments after the command's name
 * @returns the values by flag name, in camelCase, with defaults filled in
 * @throws UsageError
 */
export function readFlags<F extends Flags>(args: readonly string[], flags: F): Values<F> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type }]) => [
      name,
      { type: type === 'boolean' ? ('boolean' as const) : ('string' as const), multiple: true as const },
    ]),
  );
  let values: Record<string, (string | boolean)[] | undefined>;
  try {
    ({ values } = parseArgs({ args: joinNegatives(args, flags), options, strict: true, allowPositionals: false }));
  } catch (error) {
    const message = (error as Error).message.split('. ')[0]!.replace(/\s+/g, ' ');
    const unknown = /^Unknown option '--?([^']+)'/.exec(message)?.[1];
    const names = Object.keys(flags).map((name) => `--${name}`);
    throw new UsageError(unknown === undefined ? message : `${message}${didYouMean(`--${unknown}`, names)}`);
  }
  const result: Record<string, string | boolean | number | (string | boolean)[] | undefined> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const given = values[name] ?? [];
    if (given.length > 1 && flag.type !== 'list') throw new UsageError(`--${name} is given ${given.length} times: expected once`);
    if (given.length === 0 && flag.required) throw new UsageError(`--${name} is missing: expected --${name} ${flag.value ?? 'VALUE'}`);
    result[camelCase(name)] = flag.type === 'list' ? given : given.length === 0 ? flag.default : readValue(name, flag, given[0]!);
  }
  return result as Values<F>;
}

/** Joins `--count -3` to `--count=-3`. Otherwise parseArgs would say that the value is missing, although it is out of range. */
function joinNegatives(args: readonly string[], flags: Flags): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const flag = joined.at(-1)?.match(/^--([^=]+)$/)?.[1];
    const numeric = flag !== undefined && ['integer', 'number'].includes(flags[flag]?.type ?? '');
    if (numeric && /^-[\d.]/.test(arg)) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

function readValue(name: string, flag: Flag, raw: string | boolean): string | boolean | number {
  if (flag.type === 'integer' || flag.type === 'number') return readNumber(`--${name}`, String(raw), flag);
  if (raw === '') throw new UsageError(`--${name} is empty: expected ${flag.value ?? 'a value'}`);
  if (flag.choices && !flag.choices.includes(String(raw)))
    throw new UsageError(`--${name} is "${raw}"${didYouMean(String(raw), flag.choices)}: expected ${flag.choices.join(', ')}`);
  return raw;
}

export function readNumber(
  what: string,
  raw: string,
  { type, min = -Infinity, max = Infinity }: Pick<Flag, 'type' | 'min' | 'max'>,
): number {
  const value = raw.trim() === '' ? NaN : Number(raw);
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  const bounds = `${min > -Infinity ? ` from ${min}` : ''}${max < Infinity ? ` to ${max}` : min > -Infinity ? ' up' : ''}`;
  const valid = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!valid || value < min || value > max) throw new UsageError(`${what} is "${raw}": expected ${kind}${bounds}`);
  return value;
}

/** Reads the `key=value` pairs of a flag that may be repeated. */
export function readPairs(flag: string, pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`--${flag} is "${pair}": expected key=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

export const camelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

export const kebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
