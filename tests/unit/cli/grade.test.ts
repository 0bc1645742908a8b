/** `mua grade` against a local model of known error rates: agreement, near-misses, what is kept and how it continues. */
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { grade } from '../../../src/cli/commands/grade.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { writeReviews } from '../../../src/exchange/review-schema.ts';
import type { Criterion, Decision, Graded, Review } from '../../../src/records/grades.ts';
import { rowSha256 } from '../../../src/synthesis/row-hash.ts';
import { readGradedRow } from '../../../src/synthesis/rows.ts';
import { type AgentReply, startAgentServer } from '../../support/agent-server.ts';
import { type JudgedCase, lastMessage, replyTo, startFakeJudge } from '../../support/fake-judge.ts';
import { shopRow } from '../../support/graded-rows.ts';

let folder: string;
let server: Awaited<ReturnType<typeof startAgentServer>> | undefined;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'mua-grade-'))));
afterEach(async () => {
  server?.close();
  delete process.env.MUA_JUDGE_KEY;
  await rm(folder, { recursive: true });
});

const silent = new ProgressBar({ write: () => true }, { speaks: false });
const out = () => join(folder, 'graded.jsonl');
async function run(rows: readonly unknown[], ...flags: string[]) {
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return grade.run({ path, ...readFlags(['--out', out(), ...flags], grade.flags) }, silent);
}
/** Starts a judge, and returns the flags that name it. @param fails by the number of the order in the conversation */
async function judge(fails: (number: number, one: JudgedCase) => readonly Criterion[] | AgentReply): Promise<string[]> {
  server?.close();
  server = await startFakeJudge((one) => fails(Number(/order W(\d+),/.exec(one.messages.get(1)!)![1]), one));
  return ['--judge', server.url, '--judge-model', 'm'];
}
const graded = async () => (await readFile(out(), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as Graded & { id: string }); // prettier-ignore
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

test('rules and a judge of known errors agree as the cells say', async () => {
  // Both keep 60, only the rules keep 5, only the judge keeps 7, both reject 28.
  const rows = upTo(100).map((i) => shopRow(i, { reward: i < 65 ? 1 : 0 }));
  const report = await run(rows, ...(await judge((i) => ((i >= 60 && i < 65) || i >= 72 ? ['goal_done'] : []))));
  expect(report.keep).toEqual({ yes: 60, no: 40, person: 0 });
  expect(report.reasons).toEqual({ reward: 35, 'judge: goal_done': 33 });
  const about = (asked: string) => report.agreement.find((one) => one.pair === 'rules–judge' && one.asked === asked)!;
  for (const asked of ['keep', 'goal_done']) {
    const { n, cells, raw, kappa, bootstrap, ac1, positive, negative } = about(asked);
    expect([n, cells]).toEqual([100, { yes: 60, label: 5, judge: 7, no: 28 }]);
    expect(raw.value).toBeCloseTo(0.88, 12);
    // statsmodels: 0.7327; irrCAC: 0.78229. The interval of 2,000 resamples is that of research.
    expect(kappa!.value).toBeCloseTo(0.732739420935412, 12);
    expect(bootstrap!.low).toBeCloseTo(0.58, 1);
    expect(bootstrap!.high).toBeCloseTo(0.86, 1);
    expect(ac1!.value).toBeCloseTo(0.78229, 5);
    expect(positive!.value).toBeCloseTo(120 / 132, 12);
    expect(negative!.value).toBeCloseTo(56 / 68, 12);
  }
  // Rules say nothing about the truth of what was said.
  expect(report.agreement.map(({ asked }) => asked)).toEqual(['keep', 'goal_done']);
});

test('near-misses: the recall of each kind, false alarms, and where the evidence stands', async () => {
  const label = (kind: string) => ({ reward: 0, near_miss: { kind, first_wrong: 7, of: 'shop/0' } });
  const rows = upTo(60).map((i) => shopRow(i, i < 30 ? {} : label(i < 50 ? 'wrong_record' : 'claimed_not_done')));
  // 3 of 30 good ones are rejected. 15 of 20 and 4 of 10 near-misses are found; the judge gives no verdict on one.
  const flags = await judge((i) => (i === 45 ? { content: 'Hm.' } : i < 3 || (i >= 30 && i < 45) || (i >= 50 && i < 54) ? ['told_the_truth'] : [])); // prettier-ignore
  const { near_misses: table, not_graded: open, keep } = await run(rows, ...flags, '--near-misses');
  expect(table!.map(({ kind, n, rules, judge: own, person, kept }) => [kind, n, rules.rejected, own!.rejected, own!.graded, own!.located, person, kept])).toEqual([
    ['wrong_record', 20, 20, 15, 19, 15, 0, 0],
    ['claimed_not_done', 10, 10, 4, 10, 4, 0, 0],
    ['all kinds', 30, 30, 19, 29, 19, 0, 0],
    ['good', 30, 0, 3, 30, 0, 0, 27],
  ]); // prettier-ignore
  expect([open, keep]).toEqual([1, { yes: 27, no: 33, person: 0 }]);
  // Wilson, by R: prop.test(3, 30, correct = FALSE)
  expect(table![3]!.judge!.share).toMatchObject({ value: 0.1 });
  expect(table![3]!.judge!.share!.low).toBeCloseTo(0.0346, 4);
  expect(table![3]!.judge!.share!.high).toBeCloseTo(0.25621, 4);
});

test('reviews of a person stand beside both, by criterion, and bound the errors that are left', async () => {
  const rows = upTo(40).map((i) => shopRow(i));
  const review = (i: number, decision: Decision, reasons: Criterion[] = []): Review => ({
    conversation: `shop/${i}`, sha256: rowSha256(readGradedRow(rows[i], '')), reviewer: 'a', decision, reasons, rubric: 1, seconds: 9, at: 1000 + i,
  }); // prettier-ignore
  const reviews = [...upTo(30).map((i) => review(i, i === 0 ? 'reject' : 'keep', i === 0 ? ['told_the_truth'] : [])), review(30, 'unsure')];
  const file = join(folder, 'reviews.jsonl');
  await writeFile(file, writeReviews(reviews));
  const report = await run(rows, ...(await judge((i) => (i === 1 ? ['told_the_truth'] : []))), '--reviews', file);
  const cells = (pair: string, asked: string) => report.agreement.find((one) => one.pair === pair && one.asked === asked)?.cells;
  expect(cells('judge–person', 'keep')).toEqual({ yes: 28, label: 1, judge: 1, no: 0 });
  expect(cells('judge–person', 'told_the_truth')).toEqual({ yes: 28, label: 1, judge: 1, no: 0 });
  expect(cells('judge–person', 'goal_done')).toEqual({ yes: 30, label: 0, judge: 0, no: 0 });
  expect(cells('rules–person', 'keep')).toEqual({ yes: 29, label: 0, judge: 1, no: 0 });
  expect(cells('judge–person', 'natural')).toBeUndefined();
  // The machine keeps row 0, which the person rejects, and not row 1. (1 − p)^28 (1 + 28 p) = 0.05 at p = 0.15339.
  expect(report.checked).toMatchObject({ n: 29, bad: 1, unsure: 1 });
  expect(report.checked!.bound).toBeCloseTo(0.15339, 4);
});

test('a file that was interrupted continues to the same bytes, and asks only for the rows that are left', async () => {
  const rows = upTo(12).map((i) => shopRow(i, i % 3 === 0 ? { extra: { note: 'kept' }, reward: 1.0 } : {}));
  const flags = await judge((i) => (i % 2 ? ['communicated'] : []));
  await run(rows, ...flags);
  const whole = await readFile(out(), 'utf8');
  const ends = [...whole.matchAll(/\n/g)].map(({ index }) => index + 1);
  // Killed within the sixth row.
  await truncate(out(), ends[4]! + 100);
  const before = server!.requests.length;
  await run(rows, ...flags);
  expect(await readFile(out(), 'utf8')).toBe(whole);
  expect(server!.requests.length - before).toBe(7);
  // A finished file is only counted again.
  expect(await run(rows, ...flags)).toMatchObject({ rows: 12, left: 0 });
  expect(server!.requests.length - before).toBe(7);
  expect(await graded()).toMatchObject(rows);
});

test('rows about which a reply was useless are asked again, and rows with a verdict are not', async () => {
  const rows = upTo(9).map((i) => shopRow(i));
  const useless = await judge((i) => (i % 3 === 1 ? { content: 'Hm.' } : i === 8 ? ['goal_done'] : []));
  const first = await run(rows, ...useless);
  expect([first.not_graded, first.keep]).toEqual([3, { yes: 5, no: 1, person: 3 }]);
  const before = (await readFile(out(), 'utf8')).split('\n');
  // Each useless reply was asked for three times, and its 330 tokens are paid.
  const flags = await judge((i) => (i === 4 ? { content: 'Hm.' } : i === 7 ? ['told_the_truth'] : []));
  const second = await run(rows, ...flags);
  expect(server!.requests).toHaveLength(5);
  expect([second.not_graded, second.keep, second.left]).toEqual([1, { yes: 6, no: 2, person: 1 }, 0]);
  const after = (await readFile(out(), 'utf8')).split('\n');
  expect(after.map((line, i) => line === before[i])).toEqual([true, false, true, true, false, true, true, false, true, true]);
  expect((await graded())[1]!.grades.judge!.tokens).toEqual({ prompt: 400, completion: 40 });
  expect((await graded())[4]!.grades.judge!.tokens).toEqual({ prompt: 600, completion: 60 });
  // A judge that fails leaves the file as it is.
  const text = await readFile(out(), 'utf8');
  await expect(run(rows, ...(await judge(() => ({ status: 401, body: {} }))))).rejects.toThrow('MUA_JUDGE_KEY');
  expect(await readFile(out(), 'utf8')).toBe(text);
});

test('a row whose verdict is known is not asked again, although a criterion is not graded', async () => {
  const rows = upTo(3).map((i) => shopRow(i));
  // Rejected without a word about `policy_kept`; kept without `natural`; open without `policy_kept`.
  const flags = await judge((i, one) => {
    const met = (name: string) => (name === (i === 1 ? 'natural' : 'policy_kept') ? null : !(i === 0 && name === 'goal_done'));
    return { content: replyTo(one, (name) => ({ met: met(name), ...lastMessage(one) })) };
  });
  expect((await run(rows, ...flags)).keep).toEqual({ yes: 1, no: 1, person: 1 });
  const again = await judge(() => []);
  expect((await run(rows, ...again)).keep).toEqual({ yes: 2, no: 1, person: 0 });
  expect(server!.requests).toHaveLength(1);
});

test('votes that differ are a verdict, and are not asked again', async () => {
  const flags = [...(await judge((_, { seed }) => (seed! % 2 === 0 ? [] : ['goal_done']))), '--votes', '9'];
  expect((await run([shopRow(1)], ...flags)).keep.person).toBe(1);
  const asked = server!.requests.length;
  await run([shopRow(1)], ...flags);
  expect(server!.requests).toHaveLength(asked);
});

test('a file of other rows, settings or judges is not continued', async () => {
  const rows = upTo(3).map((i) => shopRow(i));
  const flags = await judge(() => []);
  await run(rows, ...flags);
  const before = await readFile(out(), 'utf8');
  await expect(run([...rows].reverse(), ...flags)).rejects.toThrow('its line 1 is not a grade of row 1: expected a new file');
  await expect(run(rows.slice(1), ...flags)).rejects.toThrow('it has other rows');
  await expect(run(rows)).rejects.toThrow('its line 1 was graded by m');
  await expect(run(rows, ...flags, '--votes', '3')).rejects.toThrow('its line 1 was graded with votes 1, and now it is 3');
  await expect(run(rows, ...flags, '--seed', '7')).rejects.toThrow('its line 1 was graded with seed 1, and now it is 7');
  for (const other of ['{"rules":null}', 'null', '7']) {
    await writeFile(out(), before.replace(/"grades":.*/, `"grades":${other},"keep":"yes","keep_reasons":[]}`));
    await expect(run(rows, ...flags)).rejects.toThrow('its line 1 is not a grade of row 1: expected a new file');
  }
  await writeFile(join(folder, 'graded.jsonl'), 'notes of mine');
  await expect(run(rows, ...flags)).rejects.toThrow('it exists, and it has other rows');
  expect(await readFile(out(), 'utf8')).toBe('notes of mine');
  expect(before.split('\n')).toHaveLength(4);
});

test('the budget stops, keeps what was paid, and continues with a higher one; the key stands in no file', async () => {
  process.env.MUA_JUDGE_KEY = 'sk-secret-1';
  const rows = upTo(20).map((i) => shopRow(i));
  const flags = await judge(() => []);
  // A row costs 0.00011. Up to eight rows are asked for at once.
  const prices = ['--judge-prompt-price', '1', '--judge-completion-price', '1'];
  const report = await run(rows, ...flags, ...prices, '--judge-budget', '0.0005');
  expect(report.left).toBeGreaterThan(0);
  expect(report.rows).toBeGreaterThanOrEqual(5);
  expect(report.stopped).toMatch(/^the judge has cost 0\.00\d+, and its budget is 0\.0005$/);
  await expect(run(rows, ...flags, ...prices, '--judge-budget', '0.0005')).rejects.toThrow('its budget is 0.0005');
  expect(await run(rows, ...flags, ...prices, '--judge-budget', '1')).toMatchObject({ rows: 20, left: 0 });
  expect(server!.headers[0]!.authorization).toBe('Bearer sk-secret-1');
  expect(await readFile(out(), 'utf8')).not.toContain('sk-secret');
});

test('a server that needs a key says which variable sets it, and nothing is written', async () => {
  const flags = await judge(() => ({ status: 401, body: {} }));
  await expect(run([shopRow(1)], ...flags)).rejects.toThrow('set MUA_JUDGE_KEY to its API key');
  await expect(readFile(out())).rejects.toThrow('ENOENT');
});

test('a flag of the judge needs a judge, and a file that cannot be read is named with its line', async () => {
  await expect(run([shopRow(1)], '--votes', '3')).rejects.toThrow('--votes is given: expected --judge URL with it');
  await expect(run([shopRow(1), { id: 'x' }])).rejects.toThrow('line 2: messages is missing: expected a list of at least one message');
  await expect(run([])).rejects.toThrow('it has no row: expected an object with messages in each line');
});

test('what a row says stays as it is, and earlier grades are replaced', async () => {
  const path = join(folder, 'rows.jsonl');
  const line = JSON.stringify(shopRow(1)).replace('"reward":1', '"big":12345678901234567890, "reward": 1.0');
  await writeFile(path, `${line}\n`);
  await grade.run({ path, ...readFlags(['--out', out()], grade.flags) }, silent);
  const text = await readFile(out(), 'utf8');
  expect(text.startsWith(`${line.slice(0, -1)}, "grades":{`)).toBe(true);
  await rm(path);
  await writeFile(path, text.replace('"keep":"yes"', '"keep":"no"'));
  await grade.run({ path, ...readFlags(['--out', join(folder, 'again.jsonl')], grade.flags) }, silent);
  const again = await readFile(join(folder, 'again.jsonl'), 'utf8');
  expect(again).toContain('12345678901234567890');
  expect((JSON.parse(again) as Graded).keep).toBe('yes');
  expect(again.match(/"grades"/g)).toHaveLength(1);
});
