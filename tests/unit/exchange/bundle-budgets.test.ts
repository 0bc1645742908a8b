/** Bundles that the page could not draw, or whose names break its addresses, are refused with the name of the field. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import 'fake-indexeddb/auto';
import { beforeAll, expect, test } from 'vitest';
import { Library } from '../../../src/app/library/library.ts';
import { MetricSeries } from '../../../src/app/run-data/series.ts';
import { csv } from '../../../src/base/csv.ts';
import { readRunBundle, type RunBundle } from '../../../src/exchange/run-bundle.ts';
import { zipFiles } from '../../../src/exchange/zip.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { ConfigError, grpoConfig } from '../../../src/training/config.ts';
import { reportFaults } from '../../support/faults.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const lines = (rows: readonly object[]) => encode(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
let whole: RunBundle;
beforeAll(async () => {
  whole = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
});

/** A bundle with a changed file. */
async function bundle(change: Record<string, Uint8Array<ArrayBuffer>>): Promise<Blob> {
  const { run, metrics, rollouts, trajectories } = whole;
  const files: Record<string, Uint8Array<ArrayBuffer>> = {
    'run.json': encode(JSON.stringify(run)),
    'metrics.jsonl': lines(metrics),
    'rollouts.jsonl': lines(rollouts),
    'trajectories.jsonl': lines(trajectories),
    ...change,
  };
  const manifest = {
    format: 'mua-run',
    format_version: 1,
    app_version: '1',
    created: '2026-01-01T00:00:00Z',
    files: Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [
        name,
        { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length },
      ]),
    ),
  };
  return zipFiles({ 'manifest.json': encode(JSON.stringify(manifest)), ...files }, new Date(0));
}

const first = () => structuredClone(whole.trajectories[0]!);
const withNode = (change: object) => {
  const trajectory = first();
  Object.assign(
    trajectory.nodes.find(({ tokens }) => tokens.length > 0)!,
    change,
  );
  return { 'trajectories.jsonl': lines([trajectory]) };
};
const tokensOf = () => first().nodes.find(({ tokens }) => tokens.length > 0)!.tokens.length;
const values = () => Array(tokensOf()).fill(0.5) as number[];
const named = (name: string) => withNode({ annotations: { [name]: values() } });
const task = (change: object) => ({ 'trajectories.jsonl': lines([{ ...first(), task: { ...first().task, ...change } }]) });
const chain = (count: number) => {
  const [node] = first().nodes;
  const nodes = Array.from({ length: count }, (_, id) => ({ ...node!, id, parent: id === 0 ? null : id - 1 }));
  return { 'trajectories.jsonl': lines([{ ...first(), nodes, leaf: count - 1 }]) };
};
const branch = (createdAt: unknown) => ({
  'branches.jsonl': lines([{ createdAt, rollout: whole.rollouts[0]!.id, shared: 1, batch: 'b', model: 'm', trajectory: first() }]),
});
const metrics = (count: number) => ({
  'metrics.jsonl': lines([{ step: 1, ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i])) }]),
});

const CASES: [string, () => Record<string, Uint8Array<ArrayBuffer>>, RegExp][] = [
  ...['mask', 'logprobs', 'tokens', 'text', '', 'x'.repeat(101), 'a b', 'ä'].map((name): (typeof CASES)[number] => [
    `an annotation named ${JSON.stringify(name.slice(0, 10))}`, () => named(name), /annotations: is .*: expected names of annotations/]),
  ['an annotation of another length', () => withNode({ annotations: { advantage: [1] } }), /nodes\[\d+\]\.advantage: has 1 values/],
  ['33 annotations', () => withNode({ annotations: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, values()])) }), /at most 32 annotations/],
  ['2,001 messages', () => chain(2001), /nodes: has 2001 messages: expected at most 2000/],
  ['20,000 messages', () => chain(20_000), /nodes: has 20000 messages/],
  ['1,001 metrics', () => metrics(1001), /metrics\.jsonl: it has 1002 metrics: expected at most 1000/],
  ['a date of 1e300', () => branch(1e300), /createdAt: is 1e\+300: expected at most/],
  ['a date before 1970', () => branch(-1), /createdAt: is -1: expected at least 0/],
  ['half a character in the id of a task', () => task({ id: 'a\ud800' }), /task\.id: is .*lone surrogates/],
  ['half a character in a domain', () => task({ domain: '\udfff' }), /task\.domain/],
  ['half a character in an id', () => ({ 'trajectories.jsonl': lines([{ ...first(), group: '\ud83d' }]) }), /group/],
]; // prettier-ignore

test.each(CASES)('%s is refused', async (_, change, message) => {
  await expect(readRunBundle(await bundle(change()))).rejects.toThrow(message);
});

test('what the page can draw is read: 2,000 messages, 32 annotations, 999 metrics', async () => {
  for (const change of [chain(2000), metrics(999), named('advantage'), named('delta_p'), branch(8.64e15)])
    await expect(readRunBundle(await bundle(change))).resolves.toBeDefined();
  reportFaults({
    fault: 'a bundle that the page could not draw',
    how: 'names, dates, halves of characters, and numbers of messages, annotations and metrics above what the views show',
    times: CASES.length,
    lost: 'nothing: each is refused with the name of the field',
    test: 'tests/unit/exchange/bundle-budgets.test.ts',
  });
});

test('100,000 steps in descending order are read and drawn in ascending order, within seconds', async () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => ({ step: 100_000 - i, loss: i }));
  const read = await readRunBundle(await bundle({ 'metrics.jsonl': lines(rows) }));
  const series = new MetricSeries();
  const start = performance.now();
  for (const row of read.metrics) series.put(row);
  expect(performance.now() - start).toBeLessThan(2000);
  expect(series.steps().slice(0, 2)).toEqual([1, 2]);
  expect(series.values('loss').slice(0, 2)).toEqual([99_999, 99_998]);
});

test('evaluations of an import never have the id of a run, or of a recorded evaluation', async () => {
  const db = new RunDatabase('budgets');
  const library = new Library(db);
  const [evaluation] = whole.evaluations;
  const content = { ...whole, trials: [], branches: [], run: { ...whole.run, id: 'mine' } };
  for (const id of [evaluation!.id, 'mine', 'recorded', 'branches'])
    await library.storeRun({ ...content, evaluations: [{ ...evaluation!, id }] });
  await library.storeRun({ ...content, run: { ...whole.run, id: 'other' }, evaluations: [{ ...evaluation!, id: 'mine' }] });
  const ids = (await db.evaluations.toArray()).map(({ id }) => id);
  expect(ids).toHaveLength(5);
  expect(ids.filter((id) => [evaluation!.id, 'mine', 'recorded', 'branches', 'other'].includes(id))).toEqual([]);
  db.close();
});

test.each(['=1+1', '\n=1+1', ' \t =cmd', '\r\n@x', '＝1', '＋1', '\t1', '\n1'])('the cell %j is no formula', (text) => {
  expect(csv(['a'], [[text]])).toMatch(/^a\r\n"?'/);
});

test.each([['max_model_len', 1e12], ['n', 1e12], ['train_batch_size', 2 ** 21], ['total_training_steps', 1e300], ['kv_cache_tokens', 1e12]])(
  'the setting %s of %d is refused', (name, value) => {
    expect(() => grpoConfig('nano', { [name]: String(value) })).toThrow(ConfigError);
    expect(() => grpoConfig('nano', { [name]: String(value) })).toThrow(`setting "${name}" is`);
  },
); // prettier-ignore
