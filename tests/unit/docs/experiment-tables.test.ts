/** The tables of experiments in docs/results: they fill in when the results are there, and say “not run” before. */
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dpoRows } from '../../../scripts/dpo-table.ts';
import { armRows, passColumns } from '../../../scripts/experiment-tables.ts';
import { writeExperiment } from '../../../src/experiments/file.ts';
import { readToml } from '../../../src/experiments/read-toml.ts';
import { finishedRun } from '../../support/experiments.ts';

/** A folder with the definition of `id`, and with results: variant → the number of 40 tasks that each seed solves after training. */
function folder(id: string, solved: Record<string, number[]>): string {
  const path = mkdtempSync(join(tmpdir(), 'mua-controls-'));
  copyFileSync(`public/experiments/${id}.toml`, `${path}/${id}.toml`);
  const experiment = readToml(readFileSync(`${path}/${id}.toml`, 'utf8'), id);
  const outcomes = (count: number) => Array.from({ length: 40 }, (_, i) => (i < count ? 1 : 0) as 0 | 1);
  const runs = Object.entries(solved).flatMap(([name, counts]) =>
    counts.map((count, i) => finishedRun(name, experiment.seeds[i]!, outcomes(count))),
  );
  if (runs.length > 0) writeFileSync(`${path}/${id}.mua-experiment.json`, writeExperiment({ experiment, runs }));
  return path;
}

const ARMS = { grpo: 'GRPO', start: 'no training', guard: 'asks' };
const rows = (path: string) => armRows(ARMS, passColumns('matched-controls', 'at glimpse'), path);

test('without results each arm is “not run”', () => {
  expect(rows(folder('matched-controls', {}))).toEqual([
    ['arm', 'what it is', 'pass^1 at glimpse', 'minus `grpo`'],
    ['`grpo`', 'GRPO', 'not run', ''],
    ['`start`', 'no training', 'not run', ''],
    ['`guard`', 'asks', 'not run', ''],
  ]);
});

test('with results: shares and paired differences; an arm without all seeds is “not run”', () => {
  const path = folder('matched-controls', { grpo: [20, 20, 20, 20, 20], guard: [30, 30, 30, 30, 30], start: [10, 10] });
  const found = new Map(rows(path).map(([name, , ...cells]) => [name, cells]));
  // 100 of 200: Wilson's interval. 150 of 200 the same. Of 200 pairs 50 are gained: with one gained and one lost, (51 − 1)/202 = 0.2475,
  // variance 52/202 − 0.2475² = 0.19615, error √(0.19615/200) = 0.03132, times t(199) = 1.97196: ± 0.0618.
  expect(found.get('`grpo`')).toEqual(['50.0 (43.1 to 56.9)', '']);
  expect(found.get('`guard`')).toEqual(['75.0 (68.6 to 80.5)', '+25.0 (18.6 to 30.9), shown']);
  expect(found.get('`start`')).toEqual(['not run', '']);
});

test('a column of one intent has its tasks only', () => {
  const path = folder('left-out-intents', { start: [20, 20, 20, 20, 20] });
  const file = `${path}/left-out-intents.mua-experiment.json`;
  const content = JSON.parse(readFileSync(file, 'utf8')) as { runs: { intents: string[] }[] };
  // The first 20 tasks, which are solved, are cancellations.
  for (const run of content.runs) run.intents = Array.from({ length: 40 }, (_, i) => (i < 20 ? 'cancel' : 'modify_payment'));
  writeFileSync(file, JSON.stringify(content));
  const column = (intent: string) => ({ head: intent, of: 'left-out-intents', part: intent, figure: 'success' as const });
  // Wilson's interval of 100 of 100, and of 0 of 100.
  expect(armRows({ start: 'no training' }, [column('cancel'), column('modify_payment')], path)[1]).toEqual([
    '`start`',
    'no training',
    '100.0 (96.3 to 100.0)',
    '0.0 (0.0 to 3.7)',
  ]);
});

test('a column of one domain has its tasks only, and the difference from the baseline there', () => {
  const path = folder('scenarios', { grpo: [20, 20, 20], start: [10, 10, 10] });
  const file = `${path}/scenarios.mua-experiment.json`;
  const content = JSON.parse(readFileSync(file, 'utf8')) as { runs: { tasks: string[] }[] };
  // Of each seed, the first 20 tasks are of rooms, and the others of rentals.
  for (const run of content.runs) run.tasks = run.tasks.map((task, i) => task.replace(/^\w+/, i < 20 ? 'rooms' : 'rentals'));
  writeFileSync(file, JSON.stringify(content));
  const columns = ['rooms', 'rentals'].flatMap((part) => [
    { head: part, of: 'scenarios', part, figure: 'success' as const },
    { head: 'minus', of: 'scenarios', part, figure: 'difference' as const },
  ]);
  const [, grpo, start] = armRows({ grpo: 'GRPO', start: 'no training' }, columns, path);
  // Wilson's intervals of 60 of 60, 0 of 60 and 30 of 60. Of 60 pairs 30 are lost: (30 + 1 − 1) / 62 = 0.4839, variance 32/62 − 0.4839² =
  // 0.28196, error √(0.28196/60) = 0.06855, times t(59) = 2.001: ± 0.1372.
  expect(grpo!.slice(2)).toEqual(['100.0 (94.0 to 100.0)', '', '0.0 (0.0 to 6.0)', '']);
  expect(start!.slice(2, 4)).toEqual(['50.0 (37.7 to 62.3)', expect.stringMatching(/^−50\.0 \(−62\.\d to −3\d\.\d\), shown$/)]);
  expect(start![5]).toMatch(/^0\.0 /);
});

test('an arm without all seeds does not count in the correction of the parts', () => {
  const cells = (more: Record<string, number[]>) => {
    const path = folder('scenarios', { grpo: [20, 20, 20], start: [17, 17, 17], ...more });
    const file = `${path}/scenarios.mua-experiment.json`;
    const content = JSON.parse(readFileSync(file, 'utf8')) as { runs: { tasks: string[] }[] };
    for (const run of content.runs) run.tasks = run.tasks.map((task, i) => task.replace(/^\w+/, i < 20 ? 'rooms' : 'rentals'));
    writeFileSync(file, JSON.stringify(content));
    return armRows({ start: 'no training' }, [{ head: 'minus', of: 'scenarios', part: 'rooms', figure: 'difference' }], path)[1]!;
  };
  expect(cells({})[2]).toMatch(/, shown$/);
  const unfinished = ['sft', 'sft_careful_only', 'sft_careful_only_1e-3', 'careful_demonstrator'];
  expect(cells(Object.fromEntries(unfinished.map((name) => [name, [20, 20]])))).toEqual(cells({}));
});

test('the table of preference optimisation: rates that were tried, shares, and differences from DPO', () => {
  const outcomes = (count: number) => Array.from({ length: 40 }, (_, i) => (i < count ? 1 : 0) as 0 | 1);
  const runs = [1, 2, 3].flatMap((seed) => [finishedRun('dpo', seed, outcomes(20)), finishedRun('start', seed, outcomes(10))]);
  const file = { tried: { dpo: { '1e-4': 0.25, '1e-3': 0.5 } }, chosen: { dpo: '1e-3' }, runs };
  const cells = dpoRows(file).map((row) => row.slice(0, 4));
  // Wilson's intervals of 60 and of 30 of 120. Of 120 pairs 30 are lost: (0 + 1 − 31) / 122 = −0.2459, variance 32/122 − 0.2459² = 0.20183,
  // error √(0.20183/120) = 0.04101, times t(119) = 1.98010: ± 0.0812.
  expect(cells.slice(1)).toEqual([
    ['`dpo`', '1e-4: 25.0, **1e-3: 50.0**', '50.0 (41.2 to 58.8)', ''],
    ['`sft`', '', 'not run', ''],
    ['`start`', '', '25.0 (18.1 to 33.4)', '−25.0 (−32.7 to −16.5), shown'],
  ]);
});
