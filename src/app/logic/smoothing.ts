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
