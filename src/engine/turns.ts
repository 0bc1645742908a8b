/**
 * Generation and training of one engine. A rollout needs no gradients, and an update needs no KV cache. Where memory is short, the
 * two take turns: work waits for the work before it, and frees the buffers of the other first.
 */
import type { Allocation } from './allocation.ts';

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly allocations: readonly Pick<Allocation<unknown>, 'free'>[],
    /** Without it, all allocations keep their buffers, and nothing waits. */
    readonly exclusive: boolean,
  ) {}

  /** Runs `work`, which uses `allocation` and no other. */
  use<T>(allocation: Pick<Allocation<unknown>, 'free'>, work: () => Promise<T>): Promise<T> {
    if (!this.exclusive) return work();
    const turn = this.#last.then(() => {
      for (const other of this.allocations) if (other !== allocation) other.free();
      return work();
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
