/** @file Times the phases of a step. */

/** verl's timing_s/*: seconds between laps. Laps of one name are added. */
export class Stopwatch {
  #start = performance.now();
  #last = this.#start;
  readonly #laps: Record<string, number> = {};

  lap(name: string): void {
    const now = performance.now();
    this.#laps[`timing_s/${name}`] = (this.#laps[`timing_s/${name}`] ?? 0) + (now - this.#last) / 1000;
    this.#last = now;
  }
  /** Waits, and does not count the time. */
  async rest(until: (() => Promise<void>) | undefined): Promise<void> {
    const from = performance.now();
    await until?.();
    const rested = performance.now() - from;
    this.#start += rested;
    this.#last += rested;
  }
  total(): number {
    return (performance.now() - this.#start) / 1000;
  }
  metrics(): Record<string, number> {
    return { ...this.#laps, 'timing_s/step': this.total() };
  }
}
