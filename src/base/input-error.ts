/** @file Shows values and errors of foreign files in messages: as one short line without invisible characters. */

/** The error for a file or a value from outside that is wrong. The message is one line and may quote the file. */
export class InputError extends Error {
  override name = 'InputError';

  constructor(message: string) {
    super(visible(message, 4000));
  }
}

/** The value as JSON in one line, cut to `most` characters; `missing` for undefined. The value may be huge, or nested very deeply. */
export function shown(value: unknown, most = 80): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  try {
    const text = JSON.stringify(value, (_, child: unknown) => (typeof child === 'bigint' ? Number(child) : child));
    return visible(text ?? String(value), most);
  } catch {
    return Array.isArray(value) ? 'a list, nested too deeply' : 'an object, nested too deeply';
  }
}

/** The reason why a parser refused a text, as one line. The reason may quote the text. */
export function parserReason(error: unknown, most = 200): string {
  if (error instanceof RangeError) return 'it is nested too deeply, or too large';
  return visible((error as Error).message.split('\n')[0]!, most);
}

/** The text, cut to `most` characters. Control characters and characters that change the direction of writing become `\u…`. */
function visible(text: string, most: number): string {
  const short = text.length > most ? `${text.slice(0, most)}…` : text;
  return short.replace(/\p{C}/gu, (own) => `\\u${own.codePointAt(0)!.toString(16).padStart(4, '0')}`);
}
