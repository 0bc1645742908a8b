/** @file Rows of a long list that are loaded in blocks when they become visible. */

const BLOCK = 100;
/** How many blocks stay in memory. The least recently used block is dropped first. */
const KEPT = 60;

export class Blocks<Row> {
  private readonly blocks = new Map<number, readonly Row[]>();
  private readonly asked = new Set<number>();

  /**
   * @param load loads rows [from, to)
   * @param onchange is called when rows have arrived, or with the error of a failed load
   */
  constructor(
    private readonly load: (from: number, to: number) => Promise<readonly Row[]>,
    private readonly onchange: (error?: Error) => void,
  ) {}

  get(index: number): Row | undefined {
    return this.blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  /** Loads the missing rows of [first, last). */
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
