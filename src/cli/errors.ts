/** @file Errors of the command line and their exit codes: 2 if the caller can correct the command, 1 for other errors. */

export class UsageError extends Error {
  override name = 'UsageError';
  exitCode = 2;
}

export class CommandError extends Error {
  override name = 'CommandError';
  exitCode = 1;
}

/** Names of errors which mean that a setting or an input file is wrong. */
const USAGE_NAMES = new Set([
  'ConfigError',
  'GgufError',
  'ImportError',
  'InputError',
  'ModelFolderError',
  'SafetensorsError',
  'UsageError',
]);

/** Turns an error that happened during the work into an error of the command line. */
export function errorOfWork({ name, message }: { name: string; message: string }): UsageError | CommandError {
  return USAGE_NAMES.has(name) ? new UsageError(message) : new CommandError(message);
}

/**
 * Prepares a message for a terminal: puts it on one line and removes control characters (C0, C1), which could change the
 * terminal's state.
 */
export const oneLine = (message: string) => message.replace(/\s*\n\s*/g, ' ').replace(/\p{Cc}/gu, '');
