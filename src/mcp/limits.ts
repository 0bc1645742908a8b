/** @file The limits of a connection, and what breaks them. */
import { InputError, shown } from '../base/input-error.ts';
import { McpError, type McpFiles, type McpLimits } from './types.ts';

const DEFAULT_LIMITS: McpLimits = { timeout: 30, bytes: 4 * 2 ** 20, characters: 20_000, tools: 256, depth: 64 };
/** A list of tools has at most so many pages. */
export const MOST_PAGES = 64;
/** The longest delay of a timer, in seconds. */
const LONGEST = 2_147_483;

/** The limits with defaults filled in. @throws InputError */
export function readLimits(given: Partial<McpLimits> = {}): McpLimits {
  const limits = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(limits) as (keyof McpLimits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    const whole = name !== 'timeout';
    if (!(value > 0) || (whole ? !Number.isSafeInteger(value) : value > LONGEST))
      throw new InputError(`limits.${name} is ${shown(value)}: expected ${whole ? 'a whole number from 1 up' : 'seconds above 0'}`);
    limits[name] = value;
  }
  return limits;
}

/** @throws McpError `limit` if lists and objects are nested deeper than `most` levels */
export function checkDepth(what: string, value: unknown, most: number): void {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) throw new McpError(`${what} is nested deeper than ${most} levels`, 'limit');
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    level = level.filter((item) => typeof item === 'object' && item !== null);
  }
}

export const tooManyBytes = (most: number): McpError =>
  new McpError(`the server sent more than ${most.toLocaleString('en')} bytes in one answer`, 'limit');

/** The server's own folder, in calls and results, in the arguments and variables of a command, and in messages. */
export const FOLDER = '{folder}';

/** @throws InputError if a path leads out of the folder, or is not in its plain form */
export function checkFiles(files: McpFiles): void {
  for (const path of Object.keys(files))
    if (!/^[^/\0]+(\/[^/\0]+)*$/.test(path) || path.split('/').some((name) => name === '.' || name === '..'))
      throw new InputError(`files: the path is ${shown(path)}: expected names with / between them, without . and ..`);
}
