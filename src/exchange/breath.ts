/** @file Long work beside a page that must not stand still. */

/** At least one frame of 60 a second goes to the page. */
const WORK_MS = 12;

export class Breath {
  #since = performance.now();

  /** Lets others work, if it is time to. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < WORK_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
