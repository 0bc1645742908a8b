/** @file Removes an API key from what a server answers, because the answer is shown, stored and exported. */
import { escapeRegExp } from './escape-reg-exp.ts';

/** A shorter text is no key, but a word that a server without keys gets, and that may stand in any answer. */
const SHORTEST_KEY = 5;
const MARK = '…';

/** The patterns of the characters of a key. JSON, also inside of a text of JSON, may escape any of them. */
const lettersOf = (key: string) =>
  Array.from({ length: key.length }, (_, i) => {
    const code = key.charCodeAt(i).toString(16).padStart(4, '0');
    const digits = code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    return `(?:\\\\+u${digits}|${/["\\/]/.test(key[i]!) ? '\\\\*' : ''}${escapeRegExp(key[i]!)})`;
  });

/** The text, or the JSON, without the key. Names of fields stay. */
export function withoutKey(text: string, key: string | undefined, mark = MARK): string {
  if (key === undefined || key.length < SHORTEST_KEY) return text;
  return text.replace(new RegExp(`${lettersOf(key).join('')}(?!"\\s*:)`, 'g'), mark);
}

/** Removes the key from a text that arrives in parts. The beginning of a key at the end of a part is held back. */
export class KeyFilter {
  readonly #key: string;
  readonly #beginning: RegExp | null = null;
  #held = '';

  constructor(
    key = '',
    private readonly mark = MARK,
  ) {
    this.#key = key;
    if (key.length < SHORTEST_KEY) return;
    const [first, ...rest] = lettersOf(key);
    const half = '(?:\\\\+(?:u[\\da-fA-F]{0,3})?)?$';
    const more = rest.reduceRight((after, letter) => `(?:${letter}${after}|${half})`, '$');
    this.#beginning = new RegExp(`(?:${first}${more}|\\\\+(?:u[\\da-fA-F]{0,3})?$)`);
  }

  /** The text without the key, as far as it is known. */
  write(part: string): string {
    const text = withoutKey(this.#held + part, this.#key, this.mark);
    const from = this.#beginning ? text.search(this.#beginning) : -1;
    this.#held = from < 0 ? '' : text.slice(from);
    return from < 0 ? text : text.slice(0, from);
  }

  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}
