/** Makes the tables of docs/results/customers.md from public/recorded/interaction.json. */
import { overSeeds } from '../src/experiments/estimate.ts';
import type { EvaluationRow } from '../src/records/evaluation.ts';

const TRAINED = 'nano-retail trained with';
/** Row of the table → name of the evaluated weights. */
export const MODELS: Record<string, string> = {
  '– (before)': 'nano-retail',
  'told everything': `${TRAINED} customers who tell everything`,
  scripted: `${TRAINED} the scripted customer`,
  learned: `${TRAINED} the learned customer`,
};
const CUSTOMERS = ['scripted', 'local'] as const;
const signed = (value: number) => (value < 0 ? '−' : '+') + Math.abs(value).toFixed(1);
const plain = (value: number) => (value < 0 ? '−' : '') + Math.abs(value).toFixed(1);

/**
 * Returns lines of Markdown. The tables show pass^1 in percent: the mean over seeds with a 95 % interval (Student's t over seeds).
 */
export function interactionTables(rows: readonly EvaluationRow[]): string[] {
  const seeds = [...new Set(rows.map(({ settings }) => settings.seed))].sort();
  const values = (model: string, customer: string) =>
    seeds.map((seed) => {
      const name = MODELS[model];
      const found = rows.filter((row) => row.name === name && row.settings.seed === seed && row.settings.user.mode === customer);
      if (found.length !== 1) throw new Error(`${model}, seed ${seed}, ${customer}: ${found.length} evaluations, expected 1`);
      return 100 * found[0]!.report.pass_hat[0]!.value;
    });
  const interval = (of: number[], format: (value: number) => string) => {
    const { value, low, high } = overSeeds(of)!;
    return `${format(value)} (${plain(low)} to ${plain(high)})`;
  };
  const difference = (a: string, b: string, customer: string) => {
    const [x, y] = [values(a, customer), values(b, customer)];
    return interval(
      x.map((value, i) => value - y[i]!),
      signed,
    );
  };
  const before = '– (before)';
  const main = Object.keys(MODELS).map((name) => {
    const cells = CUSTOMERS.flatMap((customer) => [
      interval(values(name, customer), plain),
      name === before ? '' : difference(name, before, customer),
    ]);
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  // “told everything” has no customers who change their mind, so it is no control for the others.
  const pairs = [['learned', 'scripted']].map(
    ([a, b]) => `| ${a} − ${b} | ${CUSTOMERS.map((customer) => difference(a!, b!, customer)).join(' | ')} |`,
  );
  return [...main, ...pairs];
}
