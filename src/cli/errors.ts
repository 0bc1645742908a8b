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

/** What servers say if the key is missing or wrong, with the variable that sets it. */
const KEYS = [
  [/the user endpoint (needs an|refused the) API key/, 'MUA_USER_KEY'],
  [/the agent’s server (needs an|refused the) API key/, 'MUA_AGENT_KEY'],
  [/the judge’s server (needs an|refused the) API key/, 'MUA_JUDGE_KEY'],
  [/the server of the tools (needs an|refused the) API key/, 'MUA_ANSWER_KEY'],
] as const;

/** Turns an error that happened during the work into an error of the command line. */
export function errorOfWork({ name, message: said }: { name: string; message: string }): UsageError | CommandError {
  const key = KEYS.find(([pattern]) => pattern.test(said))?.[1];
  const message = key ? `${said}; set ${key} to its API key` : said;
  return USAGE_NAMES.has(name) ? new UsageError(message) : new CommandError(message);
}

/** Characters that a terminal obeys (C0 and C1), and those that change the direction of writing. */
const COMMANDS = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Removes characters from a text of any origin that could write elsewhere in a terminal, set its title or fill the clipboard. */
export const printable = (text: string) => text.replace(/\r\n/g, '\n').replace(COMMANDS, '');

/** The value as JSON in which such characters are escaped. */
export const printableJson = (value: unknown) =>
  JSON.stringify(value).replace(COMMANDS, (own) => `\\u${own.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Prepares a message for a terminal: puts it on one line, without such characters. */
export const oneLine = (message: string) => printable(message.replace(/\s*\n\s*/g, ' ')).replace(/\t/g, ' ');
