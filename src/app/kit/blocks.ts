/** @file Loads the rows of a long list in blocks, when they become visible. */

const BLOCK = 100;
/** How many blocks stay in memory. If there are more, the least recently used block is dropped. */
const KEPT = 60;

export class Blocks<Row> {
  private readonly blocks = new Map<number, readonly Row[]>();
  private readonly asked = new Set<number>();

  /**
   * @param load loads the rows from `from` up to, but without, `to`
   * @param onchange is called when rows are loaded, or with the error if a load failed
   */
  constructor(
    private readonly load: (from: number, to: number) => Promise<readonly Row[]>,
    private readonly onchange: (error?: Error) => void,
  ) {}

  get(index: number): Row | undefined {
    return this.blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  /** Loads the rows from `first` up to, but without, `last` that are not in memory. */
  need(first: number, last: number): void {
    for (let block = Math.floor(first / BLOCK); block * BLOCK < last; block++) {
      const known = this.blocks.get(block);
      if (known) {
        this.blocks.delete(block); // makes this block the most recently used one
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
