/** @file What the layers found in the planted conversations, and the rows of the table in docs/results/layers.md. */
import { wilson } from '../../../src/base/wilson.ts';
import { LAYERS, type LayerName } from '../../../src/records/layers.ts';
import { type Part, PARTS } from './talk.ts';

/** Of the violations, how many were found; of the clean conversations, in how many the layer has a finding. Null: the layer was not checked. */
export type Measured = { found: number; planted: number; alarms: number; clean: number } | null;
export type Figures = Record<LayerName, Record<Part, Measured>>;

/** Counts of 50 violations and of 50 clean conversations. */
const counts = (found: number, alarms: number): Measured => ({ found, planted: 50, alarms, clean: 50 });

/** The first run of the first rules. One kind of clean conversations, a read of another customer's reservation, was corrected after it. */
export const FIRST_RUN: Figures = {
  policy: { open: counts(42, 6), 'held-back': counts(40, 5) },
  communication: { open: counts(31, 6), 'held-back': counts(31, 6) },
  safety: { open: counts(46, 7), 'held-back': counts(44, 4) },
  recovery: { open: counts(30, 1), 'held-back': counts(25, 1) },
};

/** `2 of 26: 7.7 (2.1 to 24.1)` */
export function share(count: number, of: number): string {
  const percent = (value: number) => (value === 1 ? '100' : (value * 100).toFixed(1));
  const { low, high } = wilson(count, of)!;
  return `${count} of ${of}: ${percent(count / of)} (${percent(low)} to ${percent(high)})`;
}

export const plantedHead = ['layer', 'part', 'violations found', 'clean conversations reported (false alarms)'];

export const plantedRows = (figures: Figures): string[][] =>
  LAYERS.flatMap((layer) =>
    PARTS.map((part) => {
      const measured = figures[layer][part];
      const shares = measured ? [share(measured.found, measured.planted), share(measured.alarms, measured.clean)] : ['N/A', 'N/A'];
      return [layer, part, ...shares];
    }),
  );
