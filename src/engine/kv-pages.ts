/**
 * Who owns which page of the KV cache (CPU side). Full pages are found again by the tokens they hold and all tokens before
 * them: sequences that begin alike list the same pages, counted, copy-free. A page nobody lists keeps its content until
 * the space is needed.
 */

/** Content of a full page and everything before it. Equal numbers, equal content. */
export type Content = number;
/** What comes before the first page. */
export const NOTHING: Content = 0;

interface Page {
  references: number;
  content?: Content;
  /** Key in `#byKey`. */
  key?: string;
}

export class KvPages {
  readonly #pages: Page[];
  readonly #free: number[];
  readonly #byKey = new Map<string, number>();
  /** Pages with content and no reference, in the order they were left: the first is evicted first. */
  readonly #unlisted = new Set<number>();
  #lastContent: Content = NOTHING;

  constructor(
    readonly count: number,
    /** Tokens a page. */
    readonly pageSize: number,
  ) {
    this.#pages = Array.from({ length: count }, () => ({ references: 0 }));
    this.#free = Array.from({ length: count }, (_, page) => count - 1 - page);
  }

  /** Pages that can be had now. */
  get available(): number {
    return this.#free.length + this.#unlisted.size;
  }

  /** A page with one reference, to be filled. @throws RangeError when none is left */
  take(): number {
    const oldest = this.#unlisted.values().next().value;
    if (this.#free.length === 0 && oldest !== undefined) this.#forget(oldest);
    const page = this.#free.pop();
    if (page === undefined) throw new RangeError(`all ${this.count} pages of the KV cache are in use`);
    this.#pages[page]!.references = 1;
    return page;
  }

  /** The page that holds `tokens` after `before`, with one reference more; undefined when there is none. */
  find(before: Content, tokens: readonly number[]): { page: number; content: Content } | undefined {
    const page = this.#byKey.get(keyOf(before, tokens));
    if (page === undefined) return undefined;
    const entry = this.#pages[page]!;
    entry.references += 1;
    this.#unlisted.delete(page);
    return { page, content: entry.content! };
  }

  /** Says what a full page holds. When another page holds the same, that one stays the one that is found. */
  register(page: number, before: Content, tokens: readonly number[]): Content {
    const entry = this.#pages[page]!;
    if (entry.content !== undefined) return entry.content;
    const key = keyOf(before, tokens);
    const same = this.#byKey.get(key);
    if (same !== undefined) return this.#pages[same]!.content!;
    this.#byKey.set(key, page);
    return (Object.assign(entry, { key, content: ++this.#lastContent }) as Required<Page>).content;
  }

  release(page: number): void {
    const entry = this.#pages[page]!;
    if (entry.references === 0) throw new RangeError(`page ${page} of the KV cache is released more often than taken`);
    entry.references -= 1;
    if (entry.references > 0) return;
    if (entry.content === undefined) this.#free.push(page);
    else this.#unlisted.add(page);
  }

  /** Forgets all content: the weights it was computed with are gone. */
  invalidate(): void {
    for (const page of [...this.#byKey.values()]) this.#forget(page);
  }

  #forget(page: number): void {
    const entry = this.#pages[page]!;
    if (entry.key !== undefined) this.#byKey.delete(entry.key);
    entry.key = undefined;
    entry.content = undefined;
    if (this.#unlisted.delete(page)) this.#free.push(page);
  }
}

const keyOf = (before: Content, tokens: readonly number[]): string => `${before}|${tokens.join()}`;
