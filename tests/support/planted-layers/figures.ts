/** @file What the layers found in the planted conversations, and the rows of the table in docs/results/layers.md. */
import { wilson } from '../../../src/base/wilson.ts';
import type { LayerName } from '../../../src/records/layers.ts';
import { type Part, PARTS } from './talk.ts';

/** Of the violations, how many were found; of the clean conversations, in how many the layer has a finding. */
export interface Measured {
  found: number;
  planted: number;
  alarms: number;
  clean: number;
}
type Row = LayerName | 'communication, second set' | 'recovery, second set';
export type Figures = Record<Row, Record<Part, Measured>>;

/** Counts of so many violations and as many clean conversations. */
const counts = (found: number, alarms: number, of = 50): Measured => ({ found, planted: of, alarms, clean: of });

/**
 * The first run of each set: of the first rules, and of the rules that the first set had improved. Three kinds of clean conversations were
 * corrected after it: a read of another customer's reservation; in the second set, a price told only after the change, and one attempt only.
 */
export const FIRST_RUN: Figures = {
  policy: { open: counts(42, 6), 'held-back': counts(40, 5) },
  communication: { open: counts(31, 6), 'held-back': counts(31, 6) },
  safety: { open: counts(46, 7), 'held-back': counts(44, 4) },
  recovery: { open: counts(30, 1), 'held-back': counts(25, 1) },
  'communication, second set': { open: counts(21, 2, 40), 'held-back': counts(22, 4, 40) },
  'recovery, second set': { open: counts(21, 4, 40), 'held-back': counts(20, 3, 40) },
};

/** After the rules were improved with the open part. No author of a rule has seen the held-back part. */
export const TODAY: Figures = {
  policy: { open: counts(50, 0), 'held-back': counts(42, 2) },
  communication: { open: counts(50, 0), 'held-back': counts(38, 2) },
  safety: { open: counts(50, 0), 'held-back': counts(47, 1) },
  recovery: { open: counts(50, 0), 'held-back': counts(41, 0) },
  'communication, second set': { open: counts(40, 0, 40), 'held-back': counts(31, 4, 40) },
  'recovery, second set': { open: counts(40, 0, 40), 'held-back': counts(26, 1, 40) },
};

/** `2 of 26: 7.7 (2.1 to 24.1)` */
export function share(count: number, of: number): string {
  const percent = (value: number) => (value === 1 ? '100' : (value * 100).toFixed(1));
  const { low, high } = wilson(count, of)!;
  return `${count} of ${of}: ${percent(count / of)} (${percent(low)} to ${percent(high)})`;
}

export const plantedHead = ['layer', 'part', 'found, first run', 'false alarms, first run', 'found today', 'false alarms today'];

/** The rows of `plantedHead`: two columns for each run. */
export const plantedRows = (...runs: readonly Figures[]): string[][] =>
  (Object.keys(runs[0]!) as Row[]).flatMap((row) =>
    PARTS.map((part) => [
      row,
      part,
      ...runs.flatMap((figures) => {
        const { found, planted, alarms, clean } = figures[row][part];
        return [share(found, planted), share(alarms, clean)];
      }),
    ]),
  );
