// @ts-check
/** Errors of the command line and their exit codes: 2 for what the caller can mend in the command, 1 for the rest. */

export class UsageError extends Error {
  /** @override */
  name = 'UsageError';
  exitCode = 2;
}

export class CommandError extends Error {
  /** @override */
  name = 'CommandError';
  exitCode = 1;
}

/** Names of errors of the page that mean a bad setting or a bad input file. */
const USAGE_NAMES = new Set(['ConfigError', 'InputError', 'UsageError']);

/**
 * An error that the page reported, as one to show.
 * @param {{ name: string, message: string }} error
 */
export function pageError({ name, message }) {
  return USAGE_NAMES.has(name) ? new UsageError(message) : new CommandError(message);
}
