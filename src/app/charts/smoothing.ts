export const DEFAULT_SMOOTHING = 0.7;

/** Reads a smoothing weight from the address: a number from 0 to below 1. Any other text gives the default. */
export function readSmoothing(text: string): number {
  const weight = Number(text || DEFAULT_SMOOTHING);
  return weight >= 0 && weight < 1 ? weight : DEFAULT_SMOOTHING;
}

/**
 * Exponential moving average with bias correction, as in TensorBoard. Entry i is the weighted mean of the values up to i. Each
 * later value multiplies the weights of the values before it by `weight`. Null stays null and changes no mean. With `weight` 0
 * the result is equal to `values`.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  let sum = 0;
  let total = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = sum * weight + value;
    total = total * weight + 1;
    return sum / total;
  });
}
