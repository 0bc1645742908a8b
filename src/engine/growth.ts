/**
 * Forecasts how many pages of the KV cache the open sequences will need at once. The sampler lets a sequence begin only if the forecast
 * fits. Without a forecast all sequences would begin at once, grow, and take each other's pages, and their tokens would be computed
 * several times.
 */

/** Before sequences have ended, the forecast assumes that a sequence grows by this share of its first prompt. It weighs as much as `WEIGHT` sequences. */
const FIRST_SHARE = 0.7;
const WEIGHT = 8;
/** A sequence that has grown as much as others, or more, is assumed to grow further by this share. */
const FURTHER_SHARE = 0.35;
/** With each sequence that ends, the earlier ones weigh less: training changes how long conversations become. */
const KEPT = 0.995;

export class Growth {
  /** Over the sequences that have ended: the sum of the tokens that they grew by, and the sum of the squares. */
  #sum = 0;
  #squares = 0;

  ended(grown: number): void {
    this.#sum = KEPT * this.#sum + grown;
    this.#squares = KEPT * this.#squares + grown * grown;
  }

  /**
   * The tokens that a sequence will probably still grow by.
   * @param prompt tokens of its first prompt
   * @param grown tokens that it has grown by since then
   */
  left(prompt: number, grown: number): number {
    const first = FIRST_SHARE * prompt;
    // The mean is weighted by length, because a long sequence is open for longer.
    const typical = (this.#squares + WEIGHT * first * first) / (this.#sum + WEIGHT * first);
    return Math.max(typical - grown, FURTHER_SHARE * grown);
  }
}

/**
 * The most pages that will be in use at once beyond those in use now, if all sequences grow at the same pace and free their own pages
 * at their ends.
 * @param sequences for each: pages that only it holds, and pages that it will still take
 */
export function peakPages(sequences: readonly { own: number; more: number }[]): number {
  const byEnd = sequences.toSorted((a, b) => a.more - b.more);
  let [peak, ended] = [0, 0];
  for (const [i, { own, more }] of byEnd.entries()) {
    peak = Math.max(peak, ended + (byEnd.length - i) * more);
    ended -= own;
  }
  return peak;
}
