/** @file Rows of a long list that live elsewhere, fetched in blocks when they come into sight. */

const BLOCK = 100;
/** Blocks kept; the ones not wanted for longest go first. */
const KEPT = 60;

export class Blocks<Row> {
  private readonly blocks = new Map<number, readonly Row[]>();
  private readonly asked = new Set<number>();

  /**
   * @param load fetches rows [from, to)
   * @param onchange told when rows have come, or with what keeps them from coming
   */
  constructor(private readonly load: (from: number, to: number) => Promise<readonly Row[]>, private readonly onchange: (error?: Error) => void) {}

  get(index: number): Row | undefined {
    return this.blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  /** Fetches what is missing of rows [first, last). */
  need(first: number, last: number): void {
    for (let block = Math.floor(first / BLOCK); block * BLOCK < last; block++) {
      const known = this.blocks.get(block);
      if (known) {
        this.blocks.delete(block); // moves it to the end
        this.blocks.set(block, known);
      } else if (!this.asked.has(block)) void this.fetch(block);
    }
  }

  private async fetch(block: number): Promise<void> {
    this.asked.add(block);
    try {
      this.blocks.set(block, await this.load(block * BLOCK, (block + 1) * BLOCK));
      if (this.blocks.size > KEPT) this.blocks.delete(this.blocks.keys().next().value!);
      this.onchange();
    } catch (error) {
      this.onchange(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.asked.delete(block);
    }
  }
}
