/** @file How the outcomes of a pair are called and marked. */
import type { Flip } from '../../evaluation/paired.ts';

export const FLIP_LABELS: Record<Flip, { text: string; mark: string }> = {
  gained: { text: 'Gained', mark: '✗→✓' },
  lost: { text: 'Lost', mark: '✓→✗' },
  both: { text: 'Right in both', mark: '✓ ✓' },
  neither: { text: 'Wrong in both', mark: '✗ ✗' },
};
