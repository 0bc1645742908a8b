/**
 * The pages of the KV cache (CPU side), with a reference count for each. A full page is found by its tokens and all tokens before
 * them, so sequences with the same prefix use the same pages, without a copy. A page without references keeps its content until the
 * sampler needs the space.
 */

/** An id for the tokens of a full page and of all pages before it. Equal ids mean equal tokens. */
export type Content = number;
/** The id for no tokens: what is before the first page. */
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
  /** Pages with content but without references. The page that was released first is evicted first. */
  readonly #unlisted = new Set<number>();
  #lastContent: Content = NOTHING;

  constructor(
    readonly count: number,
    /** Tokens per page. */
    readonly pageSize: number,
  ) {
    this.#pages = Array.from({ length: count }, () => ({ references: 0 }));
    this.#free = Array.from({ length: count }, (_, page) => count - 1 - page);
  }

  /** Number of pages that `take` can return now. */
  get available(): number {
    return this.#free.length + this.#unlisted.size;
  }

  /** Returns an empty page with one reference. @throws RangeError if all pages are in use */
  take(): number {
    const oldest = this.#unlisted.values().next().value;
    if (this.#free.length === 0 && oldest !== undefined) this.#forget(oldest);
    const page = this.#free.pop();
    if (page === undefined) throw new RangeError(`all ${this.count} pages of the KV cache are in use`);
    this.#pages[page]!.references = 1;
    return page;
  }

  /** Returns the page that holds `tokens` after `before`, and adds a reference to it. Undefined if no page holds them. */
  find(before: Content, tokens: readonly number[]): { page: number; content: Content } | undefined {
    const page = this.#byKey.get(keyOf(before, tokens));
    if (page === undefined) return undefined;
    const entry = this.#pages[page]!;
    entry.references += 1;
    this.#unlisted.delete(page);
    return { page, content: entry.content! };
  }

  /** Registers the content of a full page. If another page has the same content, `find` continues to return that page. */
  register(page: number, before: Content, tokens: readonly number[]): Content {
    const entry = this.#pages[page]!;
    if (entry.content !== undefined) return entry.content;
    const key = keyOf(before, tokens);
    const same = this.#byKey.get(key);
    if (same !== undefined) return this.#pages[same]!.content!;
    this.#byKey.set(key, page);
    return (Object.assign(entry, { key, content: ++this.#lastContent }) as Required<Page>).content;
  }

  /** Whether exactly one sequence holds the page. */
  isOwn(page: number): boolean {
    return this.#pages[page]!.references === 1;
  }

  release(page: number): void {
    const entry = this.#pages[page]!;
    if (entry.references === 0) throw new RangeError(`page ${page} of the KV cache is released more often than taken`);
    entry.references -= 1;
    if (entry.references > 0) return;
    if (entry.content === undefined) this.#free.push(page);
    else this.#unlisted.add(page);
  }

  /** Forgets the content of all pages, because the weights have changed. */
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
