/** @file The labels and marks for the outcome of a pair of trials, and differences as text. */
import type { Flip } from '../../evaluation/paired.ts';

/** A difference of two shares in percentage points, with its sign. */
export const points = (value: number) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(100 * value).toFixed(0)}`;

export const FLIP_LABELS: Record<Flip, { text: string; mark: string }> = {
  gained: { text: 'Gained', mark: '✗→✓' },
  lost: { text: 'Lost', mark: '✓→✗' },
  both: { text: 'Correct in both', mark: '✓ ✓' },
  neither: { text: 'Wrong in both', mark: '✗ ✗' },
};
