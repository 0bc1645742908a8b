/** @file When a training saves a checkpoint. */

export interface SavePlan {
  /** A checkpoint every so many steps; 0: none for this reason. */
  every: number;
  /** Checkpoints beyond those of `every` take at most this share of the time. 0: there are none. */
  share: number;
}

export class CheckpointClock {
  readonly #plan: SavePlan;
  #due: number;

  constructor(plan: SavePlan) {
    this.#plan = plan;
    this.#due = plan.share > 0 ? -Infinity : Infinity;
  }

  /** Whether a checkpoint of `step` (0: before the first step) is due now. */
  isDue(step: number): boolean {
    const { every } = this.#plan;
    return performance.now() >= this.#due || (step > 0 && every > 0 && step % every === 0);
  }

  /** Saves, and notes how long that took. */
  async time(save: () => Promise<void>): Promise<void> {
    const start = performance.now();
    await save();
    const end = performance.now();
    if (this.#plan.share > 0) this.#due = end + (end - start) / this.#plan.share;
  }
}
