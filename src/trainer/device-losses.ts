/** @file Decides whether a training continues after its GPU device was lost. */

const WINDOW_MS = 120_000;
/** If more losses than this occur within two minutes, the next step would probably lose the device too. */
const MOST = 2;

export class DeviceLosses {
  #times: number[] = [];

  /** Counts a loss that happened now. Returns whether the training should continue. */
  add(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((time) => now - time < WINDOW_MS), now];
    return this.#times.length <= MOST;
  }
}
