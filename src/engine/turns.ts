/**
 * Lets generation and training of one engine take turns where memory is short: a rollout needs no gradients, and an update needs no
 * KV cache. Work waits for the work before it. Then it frees the other side's buffers, and starts.
 */
import type { Allocation } from './allocation.ts';

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly allocations: readonly Pick<Allocation<unknown>, 'free'>[],
    /** If false, all allocations keep their buffers, and no work waits. */
    readonly exclusive: boolean,
  ) {}

  /** Runs `work`, which uses `allocation` and no other one. */
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
