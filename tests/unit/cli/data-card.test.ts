/** `mua data-card`: what the card says about files whose rows are known. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { convert } from '../../../src/cli/commands/convert.ts';
import { dataCardCommand } from '../../../src/cli/commands/data-card.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { writeReviews } from '../../../src/exchange/review-schema.ts';
import { CRITERIA, type Criterion, type Grades, type Review, RULES } from '../../../src/records/grades.ts';
import { rowSha256 } from '../../../src/synthesis/row-hash.ts';
import { readGradedRow } from '../../../src/synthesis/rows.ts';
import { shopRow } from '../../support/graded-rows.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'mua-card-'))));
afterEach(() => rm(folder, { recursive: true }));

const silent = new ProgressBar({ write: () => true }, { speaks: false });
async function run(rows: readonly unknown[], ...flags: string[]) {
  const [path, out] = [join(folder, 'cold.jsonl'), join(folder, 'README.md')];
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const card = await dataCardCommand.run({ path, ...readFlags(['--out', out, ...flags], dataCardCommand.flags) }, silent);
  return { card, text: await readFile(out, 'utf8') };
}

/** Grades in which the rules and the judge find what is named. */
function grades(bad: { rule?: (typeof RULES)[number]; judge?: Criterion; open?: Criterion } = {}): Grades {
  const criteria = Object.fromEntries(
    CRITERIA.map((name) => [
      name,
      name === bad.open ? { met: null, why: 'no quote' } : { met: name !== bad.judge, message: 1, quote: 'x' },
    ]),
  ) as NonNullable<Grades['judge']>['criteria'];
  return {
    rules: Object.fromEntries(
      RULES.map((name) => [name, name === bad.rule ? { ok: false, why: 'wrong' } : { ok: true }]),
    ) as Grades['rules'],
    judge: { model: 'm', prompt: 'abcdef0123456789', seed: 1, votes: 1, criteria, keep: bad.judge ? false : bad.open ? null : true },
  };
}

test('the way from all rows to the kept ones, with reasons, agreement, reviews and near-misses', async () => {
  const label = { reward: 0, near_miss: { kind: 'extra_write', first_wrong: 4, of: 'shop/1' } };
  const all = [
    grades(), grades(), grades(), grades(), grades({ rule: 'audit' }), grades({ rule: 'reward' }),
    grades({ judge: 'told_the_truth' }), grades({ open: 'communicated' }), grades({ open: 'communicated' }),
  ].map((own, i) => shopRow(i, { grades: own, keep: 'yes', intent: i < 5 ? 'cancel' : 'move', ...(i === 5 && label) })); // prettier-ignore
  const review = (i: number, decision: Review['decision'], reviewer = 'a', at = 1): Review => ({
    conversation: `shop/${i}`, sha256: rowSha256(readGradedRow(all[i], '')), reviewer, decision, reasons: [], rubric: 1, seconds: 3, at,
  }); // prettier-ignore
  const file = join(folder, 'reviews.jsonl');
  await writeFile(
    file,
    writeReviews([review(0, 'keep'), review(1, 'reject'), review(2, 'unsure'), review(7, 'keep'), review(0, 'keep', 'b', 2)]),
  );
  const { card, text } = await run(all, '--reviews', file);
  // Nine rows: two fail the rules, one the judge. Of the four that the machine keeps, a person rejects one, and keeps one of two that waited.
  expect(card.funnel).toMatchObject({ rules: 7, judge: 6, person: 4, waiting: 1 });
  expect(card.funnel!.reasons).toEqual({ 'not graded: communicated': 2, audit: 1, 'judge: told_the_truth': 1, reward: 1 });
  expect(card).toMatchObject({ rows: 9, kept: 4, intents: { cancel: 3, move: 1 } });
  expect(card.reviews).toMatchObject({ reviewers: 2, checked: 2, bad: 1, unsure: 1 });
  expect(card.judge).toEqual([{ model: 'm', prompt: 'abcdef0123456789', votes: 1, seed: 1 }]);
  expect(card.near_misses!.map(({ kind, n, rules, judge }) => [kind, n, rules.rejected, judge!.rejected])).toEqual([
    ['extra_write', 1, 1, 0],
    ['all kinds', 1, 1, 0],
    ['good', 8, 1, 1],
  ]);
  expect(text).toContain('| kept, after the decisions of persons | 4 |');
  expect(text).toContain('| judge: told\\_the\\_truth | 1 |');
});

test('near-misses are not kept, also if nothing is graded', async () => {
  const label = { reward: 0, near_miss: { kind: 'extra_write', first_wrong: 4, of: 'shop/1' } };
  const { card, text } = await run([shopRow(1, { intent: 'cancel' }), shopRow(2, { intent: 'move', ...label })]);
  expect(card).toMatchObject({ rows: 2, kept: 1, intents: { cancel: 1 } });
  expect(text).toContain('grades them. 1 of the rows was spoilt on purpose (`near_miss`), and is not kept.');
});

test('the card says how the rows were written, and texts of the report cannot change it', async () => {
  const place = { domain: '[a](http://b)', level: '<b>', world_sha256: 'ab'.repeat(32), tried: 5, solved: 3, kept: 2 };
  const made = join(folder, 'made.json');
  await writeFile(made, JSON.stringify({ places: [place, place], tried: 5, dropped: 1, solved: 3, kept: 2, seconds: 4 }));
  const { text } = await run([shopRow(1), shopRow(2)], '--made', made);
  expect(text).toContain('| \\[a\\](http://b) \\<b\\> | 5 | 3 | 2 |');
  expect(text.split(`SHA-256 of the scenario \\[a\\](http://b): \`${'ab'.repeat(32)}\`.`)).toHaveLength(2);
  expect(text).toContain('Of those that were played, 1 had no outcome, because a simulated tool failed.');
  await writeFile(made, JSON.stringify({ places: [{ ...place, world_sha256: 'x`' }], tried: 5, solved: 3, kept: 2, seconds: 4 }));
  await expect(run([shopRow(1)], '--made', made)).rejects.toThrow('made.json: places.0.world_sha256: ');
});

test('the card is the same each time, names its file, its licence and its commands, and the Hub can read its head', async () => {
  const rows = [shopRow(1), shopRow(2)];
  const flags = ['--licence', 'cc-by-4.0', '--name', "Ana's rows: 1", '--command', './mua synthesize --count 2 --out cold.jsonl'];
  const { text } = await run(rows, ...flags);
  expect((await run(rows, ...flags)).text).toBe(text);
  const head = /^---\n(.*?)\n---\n/s.exec(text)![1]!;
  expect(head).toContain('license: "cc-by-4.0"\npretty_name: "Ana\'s rows: 1"');
  expect(head).toContain('size_categories:\n- n<1K\nconfigs:\n- config_name: default\n  data_files: "cold.jsonl"');
  expect(text).toContain(createHash('sha256').update(await readFile(join(folder, 'cold.jsonl'))).digest('hex')); // prettier-ignore
  const [, made, own] = /```sh\n(.*)\n(.*)\n```/.exec(text)!;
  expect(made).toBe('./mua synthesize --count 2 --out cold.jsonl');
  expect(own).toContain(`--name 'Ana'\\''s rows: 1' --licence cc-by-4.0`);
  expect(text).toContain('The rows are not graded.');
  expect(text).toContain('## Overlap with held-out tasks\n\nNot measured.');
});

test('texts of strangers stay texts', async () => {
  const { text } = await run(
    [shopRow(1, { intent: 'a | b\n# <img src=x> [x](javascript:1)', persona: '`rm`' })],
    '--command',
    'x\n```\n# y',
  );
  expect(text).toContain('| a \\| b \\# \\<img src=x\\> \\[x\\](javascript:1) | 1 |');
  expect(text).toContain("x ''' # y");
  expect(text.match(/^# /gm)).toHaveLength(1);
});

test('the name of the data file has no marks of its own', async () => {
  const path = join(folder, 'cold_start_1.jsonl');
  await writeFile(path, `${JSON.stringify(shopRow(1))}\n`);
  const out = join(folder, 'README.md');
  await dataCardCommand.run({ path, ...readFlags(['--out', out], dataCardCommand.flags) }, silent);
  // Markdown takes a backslash before a mark away, but not within backticks.
  expect(await readFile(out, 'utf8')).toContain('SHA-256 of cold\\_start\\_1.jsonl: `');
});

test('held-out tasks, and what cannot be read', async () => {
  const held = join(folder, 'held.jsonl');
  await writeFile(held, '{"id": "shop/1", "scenario": {"instruction": "Please cancel order W5, it is late."}}\n');
  const { card } = await run([shopRow(1), shopRow(2)], '--against', held);
  expect(card.contamination).toEqual({ against: 1, rows: 0, runs: 0, openers: 1, ids: 1 });
  await writeFile(held, '{"id": "x"}\n');
  await expect(run([shopRow(1)], '--against', held)).rejects.toThrow('held.jsonl: line 1: it has no words of a customer');
  await expect(run([shopRow(1, { grades: { rules: 7 } })])).rejects.toThrow(
    /cold.jsonl: line 1: grades\.rules has another form: expected grades as/,
  );
  await expect(run([shopRow(1)], '--licence', 'My Own')).rejects.toThrow('--licence is "My Own": expected a name of the Hub');
});

test('the card and converted rows do not replace the rows', async () => {
  const path = join(folder, 'cold.jsonl');
  const rows = `${JSON.stringify(shopRow(1))}\n`;
  await writeFile(path, rows);
  await symlink(path, join(folder, 'link.jsonl'));
  for (const out of [path, join(folder, 'link.jsonl')]) {
    await expect(dataCardCommand.run({ path, ...readFlags(['--out', out], dataCardCommand.flags) }, silent)).rejects.toThrow('expected another file'); // prettier-ignore
    await expect(convert.run({ path, ...readFlags(['--out', out, '--format', 'mua-rl'], convert.flags) }, silent)).rejects.toThrow('expected another file'); // prettier-ignore
  }
  expect(await readFile(path, 'utf8')).toBe(rows);
});

test('the difficulty of rows is the pass rate of an agent on the same tasks', async () => {
  const played = (rewards: Record<string, (number | null)[]>) =>
    Object.entries(rewards).flatMap(([task, own]) =>
      own.map((reward) => `${JSON.stringify({ task, messages: [{ role: 'user', content: 'Hi' }], ...(reward !== null && { reward }) })}\n`),
    );
  const file = join(folder, 'agent.jsonl');
  await writeFile(file, played({ 'shop/0': [0, 0], 'shop/1': [1, 0, 0, 0], 'shop/2': [1, 0, 0], 'shop/3': [1, 1, 0, 0], 'shop/4': [1, 1, 1, 0], 'shop/5': [1, 1, 1, 1, 0], 'shop/6': [1, null], 'other/9': [1, 1] }).join('')); // prettier-ignore
  const rows = Array.from({ length: 9 }, (_, i) => shopRow(i));
  const { card, text } = await run(rows, '--played', file);
  expect(card.difficulty).toMatchObject({ agent: 'agent', measured: 7, trials: 23 });
  expect(card.difficulty!.rows.map(({ count }) => count)).toEqual([1, 1, 2, 1, 1, 1]);
  expect(text).toContain('agent played the tasks of 7 of 9 kept rows, with 23 scored trials.');
  expect(text).toContain('| above 0.25, up to 0.5 | 2 | 28.6 % |');
  await writeFile(file, played({ 'other/9': [1] }).join(''));
  await expect(run(rows, '--played', file)).rejects.toThrow('none of its 1 tasks with a score is that of a row');
  await expect(run(rows, '--played', join(folder, 'none.jsonl'))).rejects.toThrow('there is no such file or folder');
});
