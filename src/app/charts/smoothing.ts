/**
 * Reads a smoothing weight from the address: a number from 0 to below 1. Any other text gives the default. A run of fewer than 20
 * steps is not smoothed by default, because its smoothed line would end far from its last value.
 */
export function readSmoothing(text: string, steps: number): number {
  const usual = steps < 20 ? 0 : 0.7;
  const weight = Number(text || usual);
  return weight >= 0 && weight < 1 ? weight : usual;
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
