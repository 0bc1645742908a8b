/** @file The labels and marks of a pair’s outcome. */
import type { Flip } from '../../evaluation/paired.ts';

export const FLIP_LABELS: Record<Flip, { text: string; mark: string }> = {
  gained: { text: 'Gained', mark: '✗→✓' },
  lost: { text: 'Lost', mark: '✓→✗' },
  both: { text: 'Correct in both', mark: '✓ ✓' },
  neither: { text: 'Wrong in both', mark: '✗ ✗' },
};
