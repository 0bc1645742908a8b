/**
 * Cuts a program into submits of about 50 ms of GPU time. Windows resets a GPU that is busy with one submit for 2 s, so the estimates
 * may be too low by a factor of 40. The unit of work is a floating-point operation of a matmul. A kernel that is limited by memory
 * gives the number of matmul operations that would take as long.
 */

/** The GPU time that one submit should take, in milliseconds. */
const SUBMIT_MS = 50;
/** A measurement below this time, in milliseconds, shows the latency of the browser rather than the speed of the GPU. */
const LEAST_MS = 10;
/** Assumed operations per millisecond before the first measurement. They are far below those of a slow GPU (5e8), so that the first submits are short. */
const FIRST_RATE = { software: 1e6, hardware: 2e7 };

export class SubmitPacer {
  /** Estimated speed of the GPU, in operations per millisecond. */
  rate: number;

  constructor(software: boolean) {
    this.rate = software ? FIRST_RATE.software : FIRST_RATE.hardware;
  }

  /** Cuts dispatches into consecutive submits. `work` is the work of each dispatch. Returns the end index (exclusive) of each submit. */
  cut(work: readonly number[]): number[] {
    const most = this.rate * SUBMIT_MS;
    const ends: number[] = [];
    let sum = 0;
    work.forEach((own, i) => {
      if (sum > 0 && sum + own > most) {
        ends.push(i);
        sum = 0;
      }
      sum += own;
    });
    if (work.length > 0) ends.push(work.length);
    return ends;
  }

  /** Updates the rate from a measurement: `work` took `ms`. One measurement changes the rate by a factor of at most 2. */
  measured(work: number, ms: number): void {
    const rate = work / Math.max(ms, LEAST_MS);
    // Latency makes a short measurement look slow. Such a measurement may raise the rate, but not lower it.
    if (ms < LEAST_MS && rate < this.rate) return;
    this.rate = Math.min(2 * this.rate, Math.max(this.rate / 2, rate));
  }
}
