/** @file The arithmetic of a bar whose parts are shares that sum to 1. Border i is between the parts i and i + 1. */

const STEP = 0.01;
const LARGE_STEP = 0.1;

/** The positions of the borders, from 0 to 1: the running sums of the shares, without the last sum. */
export function bordersOf(shares: readonly number[]): number[] {
  let sum = 0;
  return shares.slice(0, -1).map((share) => (sum += share));
}

/**
 * The shares after border `border` has moved to `position`, which is rounded to a whole percent from 0 to 1. The border pushes other
 * borders that are in its way, so a part between them can shrink to 0.
 */
export function moveBorder(shares: readonly number[], border: number, position: number): number[] {
  const to = Math.min(1, Math.max(0, Math.round(position * 100) / 100));
  const moved = bordersOf(shares).map((at, i) => (i < border ? Math.min(at, to) : i > border ? Math.max(at, to) : to));
  return [...moved, 1].map((at, i) => Math.round((at - (moved[i - 1] ?? 0)) * 1e6) / 1e6);
}

/** The position to which a key moves a border at `position`, with the keys of a slider; null for other keys. */
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
