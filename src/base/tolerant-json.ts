/** @file Reads JSON as other programs write it: with Python's constants and quotes, and with integers of any size. */
import { mapJson } from './json.ts';

/** An integer of 16 or more digits may be larger than a number holds exactly. */
const MAY_BE_BIG = /(?<![\d.eE+-])-?\d{16}/;
const NUMBER = /-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y;
const WORD = /-?[A-Za-z]+/y;
const SPACE = /[\s\uFEFF]*/y;
const PLAIN_TEXT = { '"': /[^"\\]*/y, "'": /[^'\\]*/y } as const;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', a: '\x07', v: '\v', '0': '\0', '\n': '' };
const WORDS: Record<string, unknown> = {
  null: null,
  None: null,
  true: true,
  True: true,
  false: false,
  False: false,
  NaN,
  nan: NaN,
  Infinity,
  inf: Infinity,
  '-Infinity': -Infinity,
  '-inf': -Infinity,
};
const MOST_DEPTH = 500;

/**
 * The value of a text. Beside JSON it accepts what Python prints for the same values: None, True, NaN, Infinity, quotes ', tuples and
 * commas at the end. Integers that a number cannot hold become bigints.
 * @throws SyntaxError that names the position
 */
export function parseTolerant(text: string): unknown {
  if (!MAY_BE_BIG.test(text))
    try {
      return JSON.parse(text);
    } catch {
      // The reader below accepts more, and its errors are the same in every browser.
    }
  return new Reader(text).whole();
}

class Reader {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  whole(): unknown {
    const value = this.#value();
    this.#take(SPACE);
    if (this.#at < this.text.length) throw this.#unexpected('the end');
    return value;
  }

  #value(): unknown {
    this.#take(SPACE);
    const first = this.text[this.#at];
    if (first === '"' || first === "'") return this.#string(first);
    if (first === '{') return this.#nested(() => this.#object());
    if (first === '[') return this.#nested(() => this.#list(']'));
    if (first === '(') return this.#nested(() => this.#list(')'));
    const start = this.#at;
    const number = this.#take(NUMBER);
    if (number !== '') {
      const value = Number(number);
      return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(number) ? BigInt(number) : value;
    }
    const word = this.#take(WORD);
    if (Object.hasOwn(WORDS, word)) return WORDS[word];
    this.#at = start;
    throw this.#unexpected('a value');
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MOST_DEPTH) throw new RangeError('it is nested too deeply');
    this.#at++;
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    while (!this.#ends('}')) {
      const key = this.#value();
      if (typeof key !== 'string') throw this.#unexpected('a key in quotes');
      if (!this.#next(':')) throw this.#unexpected('":"');
      entries.push([key, this.#value()]);
      if (!this.#next(',') && !this.#sees('}')) throw this.#unexpected('"," or "}"');
    }
    return Object.fromEntries(entries);
  }

  #list(end: string): unknown[] {
    const values: unknown[] = [];
    while (!this.#ends(end)) {
      values.push(this.#value());
      if (!this.#next(',') && !this.#sees(end)) throw this.#unexpected(`"," or "${end}"`);
    }
    return values;
  }

  #string(quote: '"' | "'"): string {
    let value = '';
    for (this.#at++; ;) {
      value += this.#take(PLAIN_TEXT[quote]);
      if (this.#at >= this.text.length) throw this.#unexpected('the end of a text');
      if (this.text[this.#at++] === quote) return value;
      value += this.#escaped();
    }
  }

  #escaped(): string {
    const letter = this.text[this.#at++] ?? '';
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits === undefined) return ESCAPES[letter] ?? letter;
    const code = this.text.slice(this.#at, this.#at + digits);
    if (!/^[\da-fA-F]+$/.test(code) || code.length < digits || parseInt(code, 16) > 0x10ffff)
      throw this.#unexpected(`${digits} hex digits`);
    this.#at += digits;
    return String.fromCodePoint(parseInt(code, 16));
  }

  /** The text that the sticky pattern matches here, and moves behind it. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #sees(mark: string): boolean {
    this.#take(SPACE);
    return this.text[this.#at] === mark;
  }

  #next(mark: string): boolean {
    const seen = this.#sees(mark);
    if (seen) this.#at++;
    return seen;
  }

  /** Like `#next`, for the end of a list or an object. The text must not end before it. */
  #ends(mark: string): boolean {
    if (this.#next(mark)) return true;
    if (this.#at >= this.text.length) throw this.#unexpected(`"${mark}"`);
    return false;
  }

  #unexpected(expected: string): SyntaxError {
    const found = this.text.slice(this.#at, this.#at + 20);
    return new SyntaxError(
      found === ''
        ? `it ends in the middle: expected ${expected}`
        : `character ${this.#at + 1} is ${JSON.stringify(found)}: expected ${expected}`,
    );
  }
}

/** The value with every bigint as the nearest number, for readers that need no exact integers. */
export const withNumbers = (value: unknown): unknown => mapJson(value, (own) => (typeof own === 'bigint' ? Number(own) : own));

/** The position after the JSON object or list that begins at `start`. Undefined if none begins or ends there. */
export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0;
  let inText = false;
  for (let at = start; at < text.length; at++) {
    const letter = text[at];
    if (inText) {
      if (letter === '\\') at++;
      else if (letter === '"') inText = false;
    } else if (letter === '"') inText = true;
    else if (letter === '{' || letter === '[') depth++;
    else if (letter === '}' || letter === ']') depth--;
    if (depth === 0) return at > start ? at + 1 : undefined;
  }
  return undefined;
}
