/** @file Formats figures of agreement. */
import type { Interval } from '../../../records/evaluation.ts';

/** How far two sides agree. */
export interface AgreementFigures {
  n: number;
  cells: { yes: number; no: number };
  kappa: Interval | null;
  ac1: Interval | null;
  positive: Interval | null;
  negative: Interval | null;
}

/** A coefficient of agreement with its interval. */
export const coefficient = (interval: Interval | null): string =>
  interval ? `${signed(interval.value)} (${signed(interval.low)} to ${signed(interval.high)})` : 'not defined';
const signed = (x: number) => x.toFixed(2).replace('-', '−');
