/** The numbers about the interaction in docs/results/customers.md are those of the evaluations on the page. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { interactionTables, MODELS } from '../../../scripts/interaction-table.mts';
import { customerMatrices } from '../../../src/evaluation/customer-matrix.ts';
import type { EvaluationRow } from '../../../src/records/evaluation.ts';

test('the published evaluations pair, and the tables of docs/results/customers.md are made from them', async () => {
  const rows = JSON.parse(await readFile('public/recorded/interaction.json', 'utf8')) as EvaluationRow[];
  expect(rows).toHaveLength(24);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(24);
  for (const { report, results, settings } of rows) {
    expect(results).toHaveLength(settings.tasks);
    const scored = results.filter(({ reward }) => reward !== null);
    const mean = scored.reduce((sum, { reward }) => sum + reward!, 0) / scored.length;
    expect(report.pass_hat[0]!.value).toBeCloseTo(mean, 10);
  }
  const matrices = customerMatrices(rows);
  expect(matrices).toHaveLength(3);
  for (const { rows: weights } of matrices) {
    expect(weights.map(({ name }) => name)).toEqual(Object.values(MODELS));
    for (const { cells } of weights) expect(cells.every((cell) => cell !== null)).toBe(true);
  }
  const compact = (text: string) => text.replaceAll('*', '').replace(/ +/g, ' ');
  const text = compact(await readFile('docs/results/customers.md', 'utf8'));
  for (const line of interactionTables(rows)) expect(text).toContain(compact(line));
});
