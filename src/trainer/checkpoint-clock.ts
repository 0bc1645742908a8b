/** @file Decides when a training saves a checkpoint. */

export interface SavePlan {
  /** A checkpoint is saved after every `every` steps. 0: the number of steps does not matter. */
  every: number;
  /** The additional checkpoints, between those of `every`, take at most this share of the training time. 0: none are saved. */
  share: number;
}

export class CheckpointClock {
  readonly #plan: SavePlan;
  #due: number;

  constructor(plan: SavePlan) {
    this.#plan = plan;
    this.#due = plan.share > 0 ? -Infinity : Infinity;
  }

  /** Whether a checkpoint should be saved now, after `step` (0: before the first step). */
  isDue(step: number): boolean {
    const { every } = this.#plan;
    return performance.now() >= this.#due || (step > 0 && every > 0 && step % every === 0);
  }

  /** Saves a checkpoint, and uses the time that this took to decide when the next one is due. */
  async time(save: () => Promise<void>): Promise<void> {
    const start = performance.now();
    await save();
    const end = performance.now();
    if (this.#plan.share > 0) this.#due = end + (end - start) / this.#plan.share;
  }
}
