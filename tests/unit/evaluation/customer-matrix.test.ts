/** The matrix of models and customers, from evaluations of the same tasks. */
import { expect, test } from 'vitest';
import { customerMatrices } from '../../../src/evaluation/customer-matrix.ts';
import type { EvaluationRow, EvaluationSettings } from '../../../src/records/evaluation.ts';
import type { UserConfig } from '../../../src/records/user.ts';

const SCRIPTED: UserConfig = { mode: 'scripted' };
const LEARNED: UserConfig = { mode: 'local', source: 'bundled', model: 'nano-customer', precision: 'fp32', device: 'wasm' };
let time = 0;

/** `rewards[i]`: of the only trial of task i. */
function row(name: string, user: UserConfig, rewards: (number | null)[], change: Partial<EvaluationSettings> = {}): EvaluationRow {
  const results = rewards.map((reward, i) => ({ id: `${i}`, task: `t${i}`, index: 0, intent: 'cancel', reward, turns: 1, tokens: 1, termination: 'user_stop', violations: [] })); // prettier-ignore
  const value = results.filter(({ reward }) => reward === 1).length / results.length;
  return {
    id: `${++time}`,
    createdAt: time,
    run: '',
    model: { kind: 'model', name },
    name,
    settings: {
      domain: 'retail',
      level: 'nano',
      split: 'heldout',
      tasks: rewards.length,
      trials: 1,
      seed: 1,
      limits: {},
      user,
      ...change,
    } as EvaluationSettings,
    report: { pass_hat: [{ k: 1, value, low: 0, high: 1 }] } as unknown as EvaluationRow['report'],
    results,
  } as unknown as EvaluationRow;
}

test('rows are models, columns are customers, and differences pair with the first model', () => {
  const rows = [
    row('before', SCRIPTED, [1, 0, 0, 1]),
    row('before', LEARNED, [0, 0, 0, 1]),
    row('after', LEARNED, [0, 1, 1, null]),
    row('after', SCRIPTED, [0, 0, 0, 0]),
    row('after', SCRIPTED, [1, 1, 1, 1]),
    row('other', SCRIPTED, [1, 1, 1, 1]),
  ];
  const [matrix, ...more] = customerMatrices(rows);
  expect(more).toEqual([]);
  expect(matrix!.customers).toEqual(['scripted', 'nano-customer in the tab (WASM, fp32)']);
  const shown = matrix!.rows.map(({ name, cells }) => [name, ...cells.map((cell) => cell && [cell.evaluation.id, cell.passHat.value, cell.difference?.difference ?? null])]); // prettier-ignore
  expect(shown).toEqual([
    ['before', ['1', 0.5, null], ['2', 0.25, null]],
    // The newest evaluation counts. The learned customer left one trial without a score.
    ['after', ['5', 1, 0.5], ['3', 0.5, 2 / 3]],
    ['other', ['6', 1, 0.5], null],
  ]);
  expect(matrix!.rows[1]!.cells[1]!.difference!.tasks).toBe(3);
});

test('the p-values of a matrix are after Holm’s correction for all of its differences', () => {
  const none = Array<number>(12).fill(0);
  const [matrix] = customerMatrices([
    row('before', SCRIPTED, none),
    row('before', LEARNED, none),
    // Twelve of twelve gained, then six of six discordant ones: 2 / 2¹² and 2 / 2⁶.
    row('after', SCRIPTED, Array<number>(12).fill(1)),
    row('after', LEARNED, [...Array<number>(6).fill(1), ...Array<number>(6).fill(0)]),
  ]);
  expect(matrix!.comparisons).toBe(2);
  expect(matrix!.rows.map(({ cells }) => cells.map((cell) => cell!.corrected))).toEqual([
    [null, null],
    [expect.closeTo((2 * 2) / 2 ** 12, 12), expect.closeTo(2 / 2 ** 6, 12)],
  ]);
});

test('evaluations of other tasks, seeds or samplings are not mixed, and one customer makes no matrix', () => {
  const rows = [
    row('a', SCRIPTED, [1]),
    row('a', LEARNED, [1], { seed: 2 }),
    row('a', LEARNED, [1], { temperature: 0.5 }),
    row('b', SCRIPTED, [1], { seed: 3 }),
    row('b', LEARNED, [1], { seed: 3 }),
    row('c', SCRIPTED, [0], { seed: 3 }),
  ];
  const matrices = customerMatrices(rows);
  expect(matrices.map(({ rows: own }) => own.map(({ name }) => name))).toEqual([['b', 'c']]);
});
