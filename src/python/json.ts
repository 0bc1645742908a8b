/** @file Python's `json.loads`. It keeps ints and floats apart. */
import { Dict, type Value } from './values.ts';
import { MOST_DIGITS } from './text.ts';

const NUMBER = /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?/y;
/** Control characters up to U+001F must be escaped; those from U+007F on need not. */
const PLAIN = /(?:[^"\\\p{Cc}]|[\x7f-\x9f])*/uy;
const SPACE = /[ \t\n\r]*/y;
const WORDS: readonly (readonly [string, Value])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
];
const ESCAPED: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** Python stops at about a thousand levels. */
const DEEPEST = 990;

/** @throws {SyntaxError} that says what was expected where */
export const loads = (text: string): Value => new Reader(text).whole();

/** Reads one JSON value a line. Empty lines are skipped. @param fail makes the error for a line, from 1 */
export function loadsLines(text: string, fail: (line: number, reason: string) => Error): { line: number; value: Value }[] {
  return text.split('\n').flatMap((row, i) => {
    if (row.trim() === '') return [];
    const line = i + 1;
    try {
      return [{ line, value: loads(row) }];
    } catch (error) {
      throw fail(line, (error as Error).message);
    }
  });
}

class Reader {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  whole(): Value {
    const value = this.#value();
    this.#space();
    if (this.#at < this.text.length) this.#fail('the end');
    return value;
  }

  #fail(expected: string): never {
    throw new SyntaxError(`expected ${expected} at character ${this.#at + 1}`);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #space(): void {
    this.#match(SPACE);
  }

  /** Skips white space and the character, if it comes next. */
  #take(char: string): boolean {
    this.#space();
    if (this.text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #value(): Value {
    this.#space();
    const char = this.text[this.#at];
    if (char === '"') return this.#string();
    if (char === '{' || char === '[') {
      if (++this.#depth > DEEPEST) this.#fail('fewer levels');
      const value = char === '{' ? this.#object() : this.#list();
      this.#depth -= 1;
      return value;
    }
    const word = WORDS.find(([name]) => this.text.startsWith(name, this.#at));
    if (word) {
      this.#at += word[0].length;
      return word[1];
    }
    const found = this.#match(NUMBER);
    if (!found) this.#fail('a value');
    const [all, whole, fraction, exponent] = found;
    if (fraction !== undefined || exponent !== undefined) return Number(all);
    if (whole!.length > MOST_DIGITS + 1) this.#fail(`an int of at most ${MOST_DIGITS} digits`);
    return BigInt(whole!);
  }

  #list(): Value[] {
    const items: Value[] = [];
    this.#at += 1;
    if (this.#take(']')) return items;
    do items.push(this.#value());
    while (this.#take(','));
    if (!this.#take(']')) this.#fail('"," or "]"');
    return items;
  }

  #object(): Dict {
    const entries = new Dict();
    this.#at += 1;
    if (this.#take('}')) return entries;
    do {
      this.#space();
      if (this.text[this.#at] !== '"') this.#fail('a key in quotation marks');
      const key = this.#string();
      if (!this.#take(':')) this.#fail('":"');
      entries.set(key, this.#value());
    } while (this.#take(','));
    if (!this.#take('}')) this.#fail('"," or "}"');
    return entries;
  }

  #string(): string {
    this.#at += 1;
    let value = '';
    for (;;) {
      value += this.#match(PLAIN)![0];
      const char = this.text[this.#at];
      if (char === '"') break;
      if (char !== '\\') this.#fail(char === undefined ? 'the end of the text' : 'an escape for a control character');
      const escape = this.text[this.#at + 1] ?? '';
      const hex = escape === 'u' ? /^[\da-fA-F]{4}/.exec(this.text.slice(this.#at + 2, this.#at + 6))?.[0] : undefined;
      const own = hex === undefined ? ESCAPED[escape] : String.fromCharCode(parseInt(hex, 16));
      if (own === undefined) this.#fail('a valid escape');
      value += own;
      this.#at += hex === undefined ? 2 : 6;
    }
    this.#at += 1;
    return value;
  }
}
