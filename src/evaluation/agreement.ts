/**
 * @file How far a judge agrees with labels of a person. Cohen's kappa is near 0 if nearly all conversations are of one kind, even if both
 * agree about nearly all of them, so Gwet's AC1 and the agreement about each answer stand beside it.
 */
import type { Interval } from '../records/evaluation.ts';
import { wilson } from '../base/wilson.ts';

/** The numbers of conversations by both answers. */
export interface Cells {
  /** Both say yes. */
  yes: number;
  /** Only the label says yes. */
  label: number;
  /** Only the judge says yes. */
  judge: number;
  /** Both say no. */
  no: number;
}

export interface Agreement {
  /** The conversations with both a label and a verdict. */
  n: number;
  cells: Cells;
  /** Cohen's kappa (Cohen 1960). Null: both gave one and the same answer to all, so chance explains everything. */
  kappa: Interval | null;
  /** Gwet's AC1 (Gwet 2008). Null: n is 0. */
  ac1: Interval | null;
  /** Positive and negative agreement (Cicchetti and Feinstein 1990): 2 yes / (2 yes + differences). Null: no one gave this answer. */
  positive: Interval | null;
  negative: Interval | null;
}

/** Answers by the id of the conversation. */
export type Answers = ReadonlyMap<string, boolean>;

/** The agreement about the conversations that have both a label and a verdict. */
export function agreementOf(labels: Answers, verdicts: Answers): Agreement {
  const cells: Cells = { yes: 0, label: 0, judge: 0, no: 0 };
  for (const [id, label] of labels) {
    const verdict = verdicts.get(id);
    if (verdict !== undefined) cells[label ? (verdict ? 'yes' : 'label') : verdict ? 'judge' : 'no'] += 1;
  }
  return agreementIn(cells);
}

export function agreementIn(cells: Cells): Agreement {
  const { yes, label, judge, no } = cells;
  return {
    n: yes + label + judge + no,
    cells,
    kappa: around(cells, cohen),
    ac1: around(cells, gwet),
    positive: ofOneAnswer(yes, label + judge),
    negative: ofOneAnswer(no, label + judge),
  };
}

/** A coefficient with the standard error of its large-sample distribution. */
interface Estimate {
  value: number;
  error: number;
}

const Z = 1.959964;

/**
 * The coefficient with a 95 % interval: the normal interval of the large-sample distribution, after one imagined conversation was added
 * to each cell. Without them the interval has width 0 if both always agree, and covers the truth in as little as 10 % of the cases where
 * one answer is rare. With them, it covers at least 94 % for 20 to 100 conversations (tests/unit/evaluation/agreement.test.ts enumerates
 * all tables).
 */
function around(cells: Cells, coefficient: (cells: Cells) => Estimate): Interval | null {
  const { value } = coefficient(cells);
  if (!Number.isFinite(value)) return null;
  const { yes, label, judge, no } = cells;
  const centre = coefficient({ yes: yes + 1, label: label + 1, judge: judge + 1, no: no + 1 });
  const reach = Z * centre.error;
  return { value, low: Math.max(-1, Math.min(value, centre.value - reach)), high: Math.min(1, Math.max(value, centre.value + reach)) };
}

/** Cohen's kappa, with the standard error of Fleiss, Cohen and Everitt (1969, formula 13). */
export function cohen(cells: Cells): Estimate {
  const { n, yes, label, judge, no } = shares(cells);
  const [byLabel, byJudge] = [yes + label, yes + judge];
  const chance = byLabel * byJudge + (1 - byLabel) * (1 - byJudge);
  const value = (yes + no - chance) / (1 - chance);
  const left = 1 - value;
  const same = yes * (1 - (byLabel + byJudge) * left) ** 2 + no * (1 - (2 - byLabel - byJudge) * left) ** 2;
  const different = left ** 2 * (label * (byJudge + 1 - byLabel) ** 2 + judge * (byLabel + 1 - byJudge) ** 2);
  const variance = (same + different - (value - chance * left) ** 2) / (n * (1 - chance) ** 2);
  return { value, error: Math.sqrt(Math.max(0, variance)) };
}

/** Gwet's AC1 of two raters and two answers, with the standard error of Gwet (2008), of a sample from many conversations. */
export function gwet(cells: Cells): Estimate {
  const { n, yes, label, judge, no } = shares(cells);
  const prevalence = yes + (label + judge) / 2;
  const chance = 2 * prevalence * (1 - prevalence);
  const same = yes + no;
  const value = (same - chance) / (1 - chance);
  const left = 1 - value;
  const mean = yes * (1 - prevalence) + no * prevalence;
  const square = yes * (1 - prevalence) ** 2 + no * prevalence ** 2 + (label + judge) / 4;
  const variance = same * (1 - same) - 4 * left * (mean - same * chance) + 4 * left ** 2 * (square - chance ** 2);
  return { value, error: Math.sqrt(Math.max(0, variance) / n) / (1 - chance) };
}

function shares({ yes, label, judge, no }: Cells) {
  const n = yes + label + judge + no;
  return { n, yes: yes / n, label: label / n, judge: judge / n, no: no / n };
}

/**
 * 2 same / (2 same + different) with a 95 % interval: the agreement grows with same / (same + different), whose interval is Wilson's.
 */
function ofOneAnswer(same: number, different: number): Interval | null {
  const ends = wilson(same, same + different);
  const twice = (share: number) => (2 * share) / (1 + share);
  return ends && { value: twice(same / (same + different)), low: twice(ends.low), high: twice(ends.high) };
}
