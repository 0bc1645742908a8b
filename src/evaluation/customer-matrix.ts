/** @file Weights × customers: how well each model serves each simulated customer, from evaluations of the same tasks and seeds. */
import { customerName } from '../base/customer-name.ts';
import { groupBy } from '../base/group-by.ts';
import type { EvaluationRow, Interval } from '../records/evaluation.ts';
import { pairedDifference, type PairedDifference, pairTrials } from './paired.ts';
import { settingsKey } from './types.ts';

export interface MatrixCell {
  /** The newest evaluation of these weights with this customer. */
  evaluation: EvaluationRow;
  passHat: Interval;
  /** Against the first row, with the same customer. null in the first row, and where no trial pairs. */
  difference: PairedDifference | null;
}

export interface CustomerMatrix {
  /** Text that is equal for evaluations that differ in weights and customer only. */
  key: string;
  /** Names of the customers, those with most evaluations first. */
  customers: string[];
  /** The weights, those that were evaluated first come first. `cells` in the order of `customers`. */
  rows: { name: string; model: EvaluationRow['model']; run: string; cells: (MatrixCell | null)[] }[];
}

/** A matrix for each set of tasks that at least two customers played. The matrix with most evaluations comes first. */
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
      return { evaluation, passHat: { value, low, high }, difference };
    }),
  }));
  return { key, customers, rows };
}
