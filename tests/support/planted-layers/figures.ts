/** @file What the layers found in the planted conversations, and the rows of the table in docs/results/layers.md. */
import { wilson } from '../../../src/base/wilson.ts';
import { LAYERS, type LayerName } from '../../../src/records/layers.ts';
import { type Part, PARTS } from './talk.ts';

/** Of the violations, how many were found; of the clean conversations, in how many the layer has a finding. */
export interface Measured {
  found: number;
  planted: number;
  alarms: number;
  clean: number;
}
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

/** After the rules were improved with the open part. No author of a rule has seen the held-back part. */
export const TODAY: Figures = {
  policy: { open: counts(50, 0), 'held-back': counts(42, 2) },
  communication: { open: counts(50, 0), 'held-back': counts(37, 2) },
  safety: { open: counts(50, 0), 'held-back': counts(47, 1) },
  recovery: { open: counts(50, 0), 'held-back': counts(38, 0) },
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
  LAYERS.flatMap((layer) =>
    PARTS.map((part) => [
      layer,
      part,
      ...runs.flatMap((figures) => {
        const { found, planted, alarms, clean } = figures[layer][part];
        return [share(found, planted), share(alarms, clean)];
      }),
    ]),
  );
