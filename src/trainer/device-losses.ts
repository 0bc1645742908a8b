/** @file When a training goes on after its device was lost, and when it stops. */

const WINDOW_MS = 120_000;
/** More losses than these within two minutes: the next step would lose the device too. */
const MOST = 2;

export class DeviceLosses {
  #times: number[] = [];

  /** Notes a loss of now. Whether the training should go on. */
  add(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((time) => now - time < WINDOW_MS), now];
    return this.#times.length <= MOST;
  }
}
