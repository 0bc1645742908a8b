/** @file Only one use of the GPU at a time. Within this tab the table of uses decides who gets it; between tabs the lock decides. */
import { takeGpu } from './gpu-lock.ts';
import { type GpuUse, refusedHere } from './gpu-uses.ts';

interface Turn {
  use: GpuUse;
  abort: AbortController;
  freed: Promise<void>;
}

export class GpuTurns {
  #now: Turn | null = null;
  #locked = false;

  /** Whether this tab has the lock, so that no other tab uses the GPU. */
  get locked(): boolean {
    return this.#locked;
  }

  /** @throws Error with the sentence of the table if the current use refuses `use` */
  check(use: GpuUse): void {
    if (!this.#now || this.#now.abort.signal.aborted) return;
    const reason = refusedHere(this.#now.use, use);
    if (reason) throw new Error(reason);
  }

  /**
   * Takes the GPU. If the current use gives way, it is aborted first.
   * @param abort aborts the requested use
   * @returns a function that frees the GPU and resolves when other tabs can take it
   * @throws Error with the sentence of the table if this tab or another tab refuses
   */
  async take(use: GpuUse, abort = new AbortController()): Promise<() => Promise<void>> {
    for (let now = this.#now; now; now = this.#now) {
      this.check(use);
      now.abort.abort(new Error('stopped'));
      await now.freed;
    }
    let free = () => {};
    const turn = (this.#now = { use, abort, freed: new Promise<void>((resolve) => (free = resolve)) });
    const end = () => {
      if (this.#now === turn) this.#now = null;
      free();
    };
    try {
      const unlock = await takeGpu(use);
      this.#locked = true;
      return async () => {
        await unlock();
        this.#locked = false;
        end();
      };
    } catch (error) {
      end();
      throw error;
    }
  }
}
