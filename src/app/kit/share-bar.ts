/** @file Arithmetic of a bar whose parts are shares that sum to 1. Border i is between parts i and i + 1. */

const STEP = 0.01;
const LARGE_STEP = 0.1;

/** The places of the borders, from 0 to 1: the running sums of the shares, without the last. */
export function bordersOf(shares: readonly number[]): number[] {
  let sum = 0;
  return shares.slice(0, -1).map((share) => (sum += share));
}

/**
 * The shares after border `border` has moved to `position`, rounded to whole percents within 0 and 1. A border that is in the
 * way is pushed along, so that its part can shrink to 0.
 */
export function moveBorder(shares: readonly number[], border: number, position: number): number[] {
  const to = Math.min(1, Math.max(0, Math.round(position * 100) / 100));
  const moved = bordersOf(shares).map((at, i) => (i < border ? Math.min(at, to) : i > border ? Math.max(at, to) : to));
  return [...moved, 1].map((at, i) => Math.round((at - (moved[i - 1] ?? 0)) * 1e6) / 1e6);
}

/** The place to which a key moves a border at `position`, as for a slider; null for another key. */
export function positionAfterKey(key: string, position: number): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return position + STEP;
    case 'ArrowLeft':
    case 'ArrowDown':
      return position - STEP;
    case 'PageUp':
      return position + LARGE_STEP;
    case 'PageDown':
      return position - LARGE_STEP;
    case 'Home':
      return 0;
    case 'End':
      return 1;
    default:
      return null;
  }
}
