/** Datasets: their files, their storage in the browser, and the run that trains on one. */
import 'fake-indexeddb/auto';
import { afterEach, describe, expect, test } from 'vitest';
import { type DatasetQuery, filterDataset } from '../../../src/app/coldstart/dataset-filter.ts';
import { defaultForm, formProblem, sftRequest, STEP_SIZES } from '../../../src/app/coldstart/sft-request.ts';
import { transcriptNodes } from '../../../src/app/coldstart/transcript.ts';
import { Library } from '../../../src/app/library/library.ts';
import { readQuery } from '../../../src/app/routes/routes.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { DatasetConversationRow, DatasetRow } from '../../../src/records/dataset.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { Datasets, keptConversations } from '../../../src/trainer/datasets.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { keptRows, readDataset, readNotedDataset } from '../../../src/training/dataset.ts';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';

const databases: RunDatabase[] = [];
const database = (name: string) => (databases.push(new RunDatabase(name)), databases.at(-1)!);
afterEach(() => Promise.all(databases.splice(0).map((db) => db.delete())));

const hello = [
  { role: 'user' as const, content: 'Hello.' },
  { role: 'assistant' as const, content: 'How can I help you?' },
];
const line = (more: object = {}) => JSON.stringify({ messages: hello, ...more });

describe('a JSONL file', () => {
  test('is read with the facts that it has', () => {
    const facts = {
      id: 'retail/1',
      demonstrator: 'brisk',
      persona: 'pushy',
      intent: 'cancel',
      reward: 1,
      writes: 2,
      unconfirmed_writes: 1,
    };
    const violations = [{ rule: 'unconfirmed_write', call: 3, detail: 'cancel_pending_order' }];
    expect(readDataset(`${line({ ...facts, violations, other: 1 })}\n\n${line()}\n`)).toEqual([
      { messages: hello, ...facts, violations },
      { messages: hello, id: 'line 3' },
    ]);
  });

  test.each([
    ['', 'the file has no conversation'],
    ['{', 'line 1: it is not JSON'],
    ['[[]]', 'entry 1 is []: expected an object'],
    [line({ messages: [] }), 'line 1: messages is []: expected a list of at least one message'],
    [line({ messages: hello.slice(0, 1) }), 'line 1: messages has no message of role "assistant"'],
  ])('that is broken is refused with its line, field and value: %#', (text, message) => {
    expect(() => readDataset(text)).toThrow(message);
  });

  test.each<[object, string]>([
    [{ persona: 'rude' }, 'persona'],
    [{ reward: 3 }, 'reward'],
    [{ writes: -1 }, 'writes'],
    [{ demonstrator: { toString: 1 } }, 'demonstrator'],
    [{ violations: [{ rule: 'x', call: 0, detail: '' }] }, 'violations'],
    [{ id: 'x'.repeat(500) }, 'id'],
  ])('that has a column of the same name with another meaning loses this column, with a note: %j', (column, name) => {
    const notes: string[] = [];
    expect(readDataset(line(column), (note) => notes.push(note))).toEqual([{ messages: hello, id: 'line 1' }]);
    expect(notes).toEqual([`column ${name} has another form and is left out (1 ×, first in line 1)`]);
  });

  test('to export has the kept conversations, which read back the same', () => {
    const rows = readDataset([line({ id: 'a', reward: 1 }), line({ id: 'b' }), line({ id: 'c' })].join('\n')).map(
      (row, index): DatasetConversationRow => ({ ...row, dataset: 'd', index, ...(index === 1 && { rejected: true }) }),
    );
    expect(readDataset(keptRows(rows))).toEqual([
      { messages: hello, id: 'a', reward: 1 },
      { messages: hello, id: 'c' },
    ]);
  });
});

describe('the storage', () => {
  test('keeps imports, rejections and deletions; a run gets the kept conversations', async () => {
    const db = database('datasets-library');
    const library = new Library(db);
    const first = await library.datasets.import('first', readNotedDataset([line({ id: 'a' }), line({ id: 'b' })].join('\n')));
    const second = await library.datasets.import('second', readNotedDataset(line()));
    expect((await library.datasets.list()).map(({ name, count }) => [name, count])).toEqual(
      expect.arrayContaining([
        ['first', 2],
        ['second', 1],
      ]),
    );
    const rows = await library.datasets.conversations(first.id);
    await library.datasets.reject([rows[0]!], true);
    expect((await keptConversations(db, first.id)).map(({ id }) => id)).toEqual(['b']);
    await library.datasets.reject(rows, true);
    await expect(keptConversations(db, first.id)).rejects.toThrow('all 2 conversations of the dataset "first" are rejected');
    await library.datasets.reject([rows[0]!], false);
    expect((await library.datasets.conversations(first.id))[0]).toEqual(rows[0]);
    await library.delete({ kind: 'dataset', id: first.id });
    expect(await db.datasetConversations.count()).toBe(1);
    await expect(keptConversations(db, first.id)).rejects.toThrow('is not in this browser’s storage'.replace('’', "'"));
    expect((await keptConversations(db, second.id)).length).toBe(1);
  });

  test('demonstrators fill a dataset, and a cancelled one leaves nothing', async () => {
    const db = database('datasets-made');
    const datasets = new Datasets({ environments: createEnvironments({ domains: GENERATED_DOMAINS }), database: () => db });
    const options = { domain: 'retail', level: 'nano', count: 12, seed: 3, styles: ['brisk'] as const };
    const progress: number[] = [];
    const made = datasets.make({ name: 'mine', options, settings: { 'customers.pushy': '1' } }, (done) => progress.push(done));
    await expect(datasets.make({ name: 'other', options, settings: {} }, () => {})).rejects.toThrow('cancel that first');
    const id = await made;
    const row = (await db.datasets.get(id))!;
    expect(row).toMatchObject({ name: 'mine', count: 12, made: { conditions: { customers: { pushy: 1 } } } });
    expect(row.made!.tried).toBeGreaterThanOrEqual(row.made!.solved);
    const rows = await db.datasetConversations.toArray();
    for (const { demonstrator, persona, reward, violations, intent, messages } of rows) {
      expect([demonstrator, persona, reward]).toEqual(['brisk', 'pushy', 1]);
      expect(Array.isArray(violations)).toBe(true);
      expect(intent).not.toBe('');
      expect(transcriptNodes({ messages })).toHaveLength(messages.length);
    }
    expect(progress.at(-1)).toBe(12);
    // The audit says what a brisk demonstrator does.
    expect(rows.some(({ violations }) => violations!.some(({ rule }) => rule === 'unconfirmed_write'))).toBe(true);

    const cancelled = datasets.make({ name: 'cancelled', options: { ...options, count: 4000 }, settings: {} }, () => datasets.cancel());
    await expect(cancelled).rejects.toThrow('the synthesis was cancelled');
    expect(await db.datasets.count()).toBe(1);
  });
});

test('filters count what each further choice leaves', () => {
  const base = { messages: hello, dataset: 'd', id: '' };
  const rows: DatasetConversationRow[] = [
    { ...base, index: 0, persona: 'pushy', demonstrator: 'brisk', violations: [] },
    { ...base, index: 1, persona: 'pushy', demonstrator: 'careful', rejected: true },
    { ...base, index: 2, persona: 'upfront', demonstrator: 'brisk', violations: [{ rule: 'unconfirmed_write', call: 0, detail: '' }] },
  ];
  const filter = (query: Partial<DatasetQuery>) =>
    filterDataset(rows, { ...readQuery('dataset', new URLSearchParams()), ...query } as DatasetQuery);
  const shown = (query: Partial<DatasetQuery>) => filter(query).rows.map(({ index }) => index);
  expect(shown({})).toEqual([0, 1, 2]);
  expect(shown({ persona: 'pushy', demonstrator: 'brisk' })).toEqual([0]);
  expect(shown({ state: 'rejected' })).toEqual([1]);
  expect(shown({ audit: 'unconfirmed_write' })).toEqual([2]);
  expect(shown({ q: 'HELP' })).toEqual([0, 1, 2]);
  expect(shown({ q: 'refund' })).toEqual([]);
  const { counts } = filter({ persona: 'pushy' });
  expect(Object.fromEntries(counts.persona)).toEqual({ pushy: 2, upfront: 1 });
  expect(Object.fromEntries(counts.demonstrator)).toEqual({ brisk: 1, careful: 1 });
  expect(Object.fromEntries(counts.audit)).toEqual({ 'no-rule-broken': 1, unknown: 1 });
});

describe('the form of a training run', () => {
  const dataset = (level: string) => ({ id: 'd', name: 'd', createdAt: 1, count: 100, made: { level } }) as DatasetRow;

  test.each(['nano', 'small', 'full'])('gives a valid request at level %s, for every size of a step', (level) => {
    const form = defaultForm(dataset(level), 100);
    expect(formProblem(form)).toBe('');
    for (const perStep of STEP_SIZES) {
      const { preset, overrides, dataset: id } = sftRequest({ ...form, perStep }, 'd', 'nano-retail', { mode: 'scripted' });
      const config = grpoConfig(preset, overrides);
      expect([config.algorithm, config.level, config.train_batch_size * config.n, id]).toEqual(['sft', level, perStep, 'd']);
    }
  });

  test('shows each kept conversation twice, and takes smaller steps for fewer conversations', () => {
    const { steps, perStep } = defaultForm(dataset('nano'), 512);
    expect(steps * perStep).toBe(1024);
    expect(defaultForm(dataset('nano'), 20)).toMatchObject({ perStep: 16, steps: 3 });
  });

  test('refuses values out of range by name', () => {
    const form = defaultForm(dataset('nano'), 100);
    expect(formProblem({ ...form, steps: 0 })).toMatch(/^Steps must be/);
    expect(formProblem({ ...form, lr: 0 })).toMatch(/^The learning rate/);
    expect(formProblem({ ...form, steps: NaN })).toMatch(/^Steps must be/);
  });
});

test('the transcript shows several calls of one message one by one, and numbers results as the audit numbers calls', () => {
  const call = (name: string, args: string | Record<string, unknown>) => ({
    type: 'function' as const,
    function: { name, arguments: args },
  });
  const nodes = transcriptNodes({
    messages: [
      { role: 'system', content: 'Rules.' },
      { role: 'assistant', content: 'One moment.', tool_calls: [call('a', { x: 1 }), call('b', '{"y":2}')] },
      { role: 'tool', content: 'ok', name: 'a' },
      { role: 'tool', content: 'Error: no', name: 'b' },
    ],
  });
  expect(nodes.map(({ id, parent, role, toolCall, toolResult }) => [id, parent, role, toolCall?.name ?? toolResult?.index])).toEqual([
    [0, null, 'system', undefined],
    [1, 0, 'assistant', 'a'],
    [2, 1, 'assistant', 'b'],
    [3, 2, 'tool', 0],
    [4, 3, 'tool', 1],
  ]);
  expect(nodes[2]!.toolCall!.arguments).toEqual({ y: 2 });
  expect(nodes.map(({ toolResult }) => toolResult?.error)).toEqual([undefined, undefined, undefined, false, true]);
});
