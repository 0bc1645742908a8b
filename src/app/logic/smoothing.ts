export const DEFAULT_SMOOTHING = 0.7;

/** The weight that an address gives, from 0 to below 1; the usual one for anything else. */
export function readSmoothing(text: string): number {
  const weight = Number(text || DEFAULT_SMOOTHING);
  return weight >= 0 && weight < 1 ? weight : DEFAULT_SMOOTHING;
}

/**
 * Exponential moving average, corrected for its start (as TensorBoard draws it): entry i is the mean of the values so
 * far with weights that fall by `weight` a value. Null stays null and changes nothing. `weight` 0 is the raw line.
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
