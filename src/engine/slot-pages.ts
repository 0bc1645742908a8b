/**
 * The pages that each open sequence holds in the KV cache. The cache may have fewer pages than all sequences could fill. So a sequence
 * begins only if there will be pages for its growth (growth.ts). If no page is free all the same, an older sequence takes the pages of
 * the youngest ones (preemption), because those have the fewest tokens to compute again.
 */
import { Growth, peakPages } from './growth.ts';
import { KvPages, NOTHING } from './kv-pages.ts';
import type { Slot } from './requests.ts';

export class SlotPages {
  readonly #pages: KvPages;
  readonly #growth = new Growth();

  constructor(
    count: number,
    /** Tokens per page. */
    readonly pageSize: number,
    /** All open sequences. */
    readonly open: ReadonlySet<Slot>,
    /** The most tokens of a sequence. */
    readonly maxModelLen: number,
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

  /** The sequences that hold pages, the oldest first. */
  #holders(): Slot[] {
    return [...this.open].filter(({ pages }) => pages.length > 0);
  }

  /** Shares pages with a sequence that holds none, if the forecast says that it and the holders can then grow without losing pages. */
  admit(sequence: Slot): boolean {
    const holders = this.#holders();
    this.share(sequence);
    const sequences = [...holders, sequence].map((slot) => {
      const { pages, length, prompt = length } = slot;
      const end = Math.ceil(Math.min(length + this.#growth.left(prompt, length - prompt), this.maxModelLen) / this.pageSize);
      return { own: slot === sequence ? 0 : pages.filter((page) => this.#pages.isOwn(page)).length, more: Math.max(0, end - pages.length) };
    });
    const admitted = holders.length === 0 || peakPages(sequences) <= this.#pages.available;
    if (!admitted) this.drop(sequence);
    return admitted;
  }

  /** Drops a sequence that was closed, and learns how long sequences become. */
  end(sequence: Slot): void {
    if (sequence.prompt !== undefined) this.#growth.ended(sequence.length - sequence.prompt);
    this.drop(sequence);
  }

  /** Takes the pages of the youngest sequence that has no request. */
  dropIdle(): void {
    const idle = this.#holders().findLast(({ request }) => !request);
    if (idle) this.drop(idle);
  }

  /**
   * Takes pages for the first `length` tokens. If too few pages are free, younger sequences lose theirs, the youngest first.
   * Returns false if the free pages are still too few.
   */
  reserve(sequence: Slot, length: number): boolean {
    const missing = (): number => Math.ceil(length / this.pageSize) - sequence.pages.length;
    if (missing() > this.#pages.available) {
      const younger = this.#holders().filter(({ id }) => id > sequence.id);
      if (!younger.reverse().some((holder) => (this.drop(holder), missing() <= this.#pages.available))) return false;
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

/** Lists that begin with the same pages are neighbours in this order. */
export function comparePages(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((page, at) => page !== b[at]);
  return i < 0 ? a.length - b.length : a[i]! - (b[i] ?? -1);
}
