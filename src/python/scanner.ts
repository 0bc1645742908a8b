/** @file Goes through Python source: white space, brackets, names and keywords. */
import { SourceError } from './constants.ts';

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);
const NAME = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*/uy;

export const isKeyword = (name: string): boolean => KEYWORDS.has(name);

export class Scanner {
  /** How many brackets are open. Inside brackets, a line break is white space. */
  #open = 0;

  constructor(
    protected readonly text: string,
    protected at: number,
  ) {
    if (text.includes('\0')) throw new SourceError('source code string cannot contain null bytes');
    this.space(true);
  }

  protected inside<T>(close: string, read: () => T): T {
    this.#open += 1;
    this.space();
    const value = read();
    this.space();
    if (this.text[this.at] !== close) throw new SourceError(this.at < this.text.length ? 'invalid syntax' : `'${close}' was never closed`);
    this.#open -= 1;
    this.at += 1;
    return value;
  }

  /** Skips `=` if it is not `==`. */
  protected equals(): boolean {
    this.space();
    if (this.text[this.at] !== '=' || this.text[this.at + 1] === '=') return false;
    this.at += 1;
    return true;
  }

  protected need(char: string): void {
    if (!this.take(char)) throw new SourceError('invalid syntax');
  }

  protected take(char: string): boolean {
    this.space();
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  protected match(pattern: RegExp): string | undefined {
    this.space();
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  /** A name, which is no keyword unless `any` is true. */
  protected name(any = false): string | undefined {
    const start = this.at;
    const found = this.match(NAME);
    if (found === undefined || any || !KEYWORDS.has(found)) return found;
    this.at = start;
    return undefined;
  }

  protected word(word: string): boolean {
    this.space();
    if (!this.text.startsWith(word, this.at) || /[\p{L}\p{N}_]/u.test(this.text[this.at + word.length] ?? '')) return false;
    this.at += word.length;
    return true;
  }

  /** Skips white space, comments, and line breaks inside brackets. */
  protected space(lines = this.#open > 0): void {
    const pattern = lines ? /(?:[ \t\f\r\n]|\\\r?\n|#[^\n]*)*/y : /(?:[ \t\f]|\\\r?\n|#[^\n]*)*/y;
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)![0].length;
  }
}
