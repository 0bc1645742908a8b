/** @file Keeps the page responsive during long work. */

/** Milliseconds of work between two pauses: less than one frame at 60 frames per second. */
const WORK_MS = 12;

export class Breath {
  #since = performance.now();

  /** Lets the event loop run if the work has taken `WORK_MS` since the last pause. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < WORK_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
