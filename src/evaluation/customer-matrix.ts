/**
 * @file Matrices of weights × customers: how well each model serves each simulated customer. They are made from evaluations of
 * the same tasks and seeds.
 */
import { customerName } from '../base/customer-name.ts';
import { groupBy } from '../base/group-by.ts';
import { holm } from '../base/holm.ts';
import type { EvaluationRow, Interval } from '../records/evaluation.ts';
import { pairedDifference, type PairedDifference, pairTrials } from './paired.ts';
import { settingsKey } from './types.ts';

export interface MatrixCell {
  /** The newest evaluation of the row's weights with the column's customer. */
  evaluation: EvaluationRow;
  passHat: Interval;
  /** The difference from the first row, with the same customer. Null in the first row, and if no trials can be paired. */
  difference: PairedDifference | null;
  /** The p-value of the difference, after Holm's correction for all differences of the matrix. */
  corrected: number | null;
}

export interface CustomerMatrix {
  /** A text that is equal for evaluations which differ only in weights and customer. */
  key: string;
  /** The names of the customers. Those with the most evaluations come first. */
  customers: string[];
  /** The number of differences that have a p-value. */
  comparisons: number;
  /** The weights. Those that were evaluated first come first. `cells` are in the order of `customers`. */
  rows: { name: string; model: EvaluationRow['model']; run: string; cells: (MatrixCell | null)[] }[];
}

/** Makes a matrix for each set of tasks that was played with at least two customers. The matrix with the most evaluations comes first. */
export function customerMatrices(evaluations: readonly EvaluationRow[]): CustomerMatrix[] {
  const groups = groupBy(evaluations, ({ settings }) => settingsKey({ ...settings, user: { mode: 'scripted' } }));
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([key, group]) => matrixOf(key, group))
    .filter(({ customers }) => customers.length > 1);
}

function matrixOf(key: string, group: readonly EvaluationRow[]): CustomerMatrix {
  const byTime = [...group].sort((a, b) => a.createdAt - b.createdAt);
  const played = groupBy(byTime, ({ settings }) => customerName(settings.user));
  const customers = [...played.keys()].sort((a, b) => played.get(b)!.length - played.get(a)!.length);
  const weights = [...groupBy(byTime, ({ model, name }) => JSON.stringify([model, name])).values()];
  const newest = (rows: readonly EvaluationRow[], customer: string) =>
    rows.findLast(({ settings }) => customerName(settings.user) === customer);
  const [first] = weights;
  const rows = weights.map((own) => ({
    name: own[0]!.name,
    model: own[0]!.model,
    run: own[0]!.run,
    cells: customers.map((customer): MatrixCell | null => {
      const evaluation = newest(own, customer);
      if (!evaluation) return null;
      const before = own === first ? undefined : newest(first!, customer);
      const { value, low, high } = evaluation.report.pass_hat[0]!;
      const difference = before ? pairedDifference(pairTrials(before.results, evaluation.results)) : null;
      return { evaluation, passHat: { value, low, high }, difference, corrected: null };
    }),
  }));
  const compared = rows.flatMap(({ cells }) => cells.filter((cell) => cell?.difference)) as MatrixCell[];
  for (const [i, p] of holm(compared.map(({ difference }) => difference!.p)).entries()) compared[i]!.corrected = p;
  return { key, customers, comparisons: compared.length, rows };
}
