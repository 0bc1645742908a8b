/**
 * The pages that each open sequence holds in the KV cache. The cache may have fewer pages than all sequences could fill. If no page
 * is free, some sequences lose their pages (preemption): first sequences that wait for their caller, then the victims that the
 * sampler names.
 */
import { KvPages, NOTHING } from './kv-pages.ts';
import type { Slot } from './requests.ts';

export class SlotPages {
  readonly #pages: KvPages;

  constructor(
    count: number,
    /** Tokens per page. */
    readonly pageSize: number,
    /** All open sequences. */
    readonly open: ReadonlySet<Slot>,
  ) {
    this.#pages = new KvPages(count, pageSize);
  }

  /** Forgets the content of all pages. No sequence holds a page after this. */
  forget(): void {
    for (const sequence of this.open) this.drop(sequence);
    this.#pages.invalidate();
  }

  /** Releases all pages of a sequence. */
  drop(sequence: Slot): void {
    for (const page of sequence.pages) this.#pages.release(page);
    sequence.pages.length = 0;
    sequence.contents.length = 0;
    sequence.cached = 0;
  }

  /** Adds existing pages that already hold the next tokens of `sequence`. At least one token always remains to compute. */
  share(sequence: Slot): void {
    const { pageSize } = this;
    while (
      sequence.cached % pageSize === 0 &&
      sequence.cached + pageSize < sequence.length &&
      sequence.pages.length * pageSize === sequence.cached
    ) {
      const found = this.#pages.find(
        sequence.contents.at(-1) ?? NOTHING,
        sequence.tokens.slice(sequence.cached, sequence.cached + pageSize),
      );
      if (!found) return;
      sequence.pages.push(found.page);
      sequence.contents.push(found.content);
      sequence.cached += pageSize;
    }
  }

  /**
   * Takes pages for the first `length` tokens. If too few pages are free, sequences without a request lose theirs, then the `victims`.
   * Returns false if the free pages are still too few.
   */
  reserve(sequence: Slot, length: number, victims: readonly Slot[]): boolean {
    const missing = (): number => Math.ceil(length / this.pageSize) - sequence.pages.length;
    if (missing() > this.#pages.available) {
      const holders = [...[...this.open].filter(({ request }) => !request), ...victims];
      if (!holders.some((holder) => (this.drop(holder), missing() <= this.#pages.available))) return false;
    }
    while (missing() > 0) sequence.pages.push(this.#pages.take());
    return true;
  }

  /** Registers the full pages of a sequence, so that other sequences can share them. */
  register(sequence: Slot): void {
    const { pageSize } = this;
    for (let page = sequence.contents.length; (page + 1) * pageSize <= sequence.cached; page++) {
      const tokens = sequence.tokens.slice(page * pageSize, (page + 1) * pageSize);
      sequence.contents.push(this.#pages.register(sequence.pages[page]!, sequence.contents.at(-1) ?? NOTHING, tokens));
    }
  }
}
