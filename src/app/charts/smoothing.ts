export const DEFAULT_SMOOTHING = 0.7;

/** The smoothing weight in an address, from 0 to below 1. The default for any other text. */
export function readSmoothing(text: string): number {
  const weight = Number(text || DEFAULT_SMOOTHING);
  return weight >= 0 && weight < 1 ? weight : DEFAULT_SMOOTHING;
}

/**
 * Exponential moving average with bias correction, as in TensorBoard: entry i is the weighted mean of the values so far, and
 * the weight of a value falls by the factor `weight` with each later value. Null stays null and has no effect. With `weight` 0
 * the result is the raw line.
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
