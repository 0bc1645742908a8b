/** @file Keeps the page responsive during long work. */

/** Shorter than one frame at 60 frames per second. */
const WORK_MS = 12;

export class Breath {
  #since = performance.now();

  /** Yields to the event loop if the work has used its time. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < WORK_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
