/** The stored labels, and files of labels. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { Labels } from '../../../src/app/library/labels.ts';
import { conversationSha256, readLabels, writeLabels } from '../../../src/exchange/labeling-schema.ts';
import { LabelDatabase } from '../../../src/storage/label-database.ts';
import type { LabelLine } from '../../../src/records/labeling.ts';

let databases = 0;
const open = () => {
  const db = new LabelDatabase(`labels-${databases++}`);
  return { db, labels: new Labels(db) };
};
const line = (conversation: string, label: 0 | 1 | null, more: Partial<LabelLine> = {}): LabelLine => ({ conversation, label, at: 5, question: 'policy', task: 't', index: 0, sha256: 'a'.repeat(64), ...more }); // prettier-ignore

test('labels are stored in their order, replaced, undone, and kept when labelling begins again', async () => {
  const { labels } = open();
  await labels.begin('e', 'policy', ['a', 'b', 'c'], 1);
  await labels.give('e', 'policy', { conversation: 'a', label: 1, at: 1 });
  await labels.give('e', 'policy', { conversation: 'b', label: 0, at: 2 });
  await labels.give('e', 'policy', { conversation: 'a', label: null, at: 3 });
  await labels.begin('e', 'policy', ['z'], 2);
  const given = async () => (await labels.get('e', 'policy'))!.labels.map(({ conversation, label }) => [conversation, label]);
  expect(await given()).toEqual([['b', 0], ['a', null]]); // prettier-ignore
  expect(await labels.get('e', 'policy')).toMatchObject({ drawn: ['a', 'b', 'c'], seed: 1 });
  await labels.undo('e', 'policy');
  expect(await given()).toEqual([['b', 0]]);
  expect(await labels.get('e', 'safety')).toBeUndefined();
});

test('a file adds labels, and replaces none', async () => {
  const { labels } = open();
  await labels.begin('e', 'policy', ['a', 'b'], 1);
  await labels.give('e', 'policy', { conversation: 'a', label: 1, at: 1 });
  expect(await labels.add('e', 'policy', [line('a', 0), line('c', 0)])).toEqual({ added: 1, kept: 1 });
  expect(await labels.get('e', 'policy')).toMatchObject({
    drawn: ['a', 'b', 'c'],
    labels: [{ label: 1 }, { conversation: 'c', label: 0 }],
  });
  expect(await labels.add('f', 'policy', [line('c', 0)])).toEqual({ added: 1, kept: 0 });
  await labels.delete('e');
  expect([await labels.get('e', 'policy'), (await labels.get('f', 'policy'))!.drawn]).toEqual([undefined, ['c']]);
});

test('a damaged row is named, not used', async () => {
  const { db, labels } = open();
  await labels.begin('e', 'policy', ['a'], 1);
  await db.labelings.update('policy e', { labels: [{ conversation: 'a', label: 2 as 1, at: 1 }] });
  await expect(labels.get('e', 'policy')).rejects.toThrow('the stored labels: labels[0].label: is 2: expected');
});

test('a file is read as it was written; other files are refused by line', () => {
  const lines = [line('a', 1), line('b', null)];
  expect(readLabels('l.jsonl', writeLabels(lines), 'policy')).toEqual(lines);
  const read = (text: string) => () => readLabels('l.jsonl', text, 'policy');
  expect(read('')).toThrow('l.jsonl: it has no label');
  expect(read('{')).toThrow('l.jsonl: line 1: is not JSON');
  expect(read(writeLabels([line('a', 1), line('a', 0)]))).toThrow('line 2, conversation: is "a", as in line 1: expected one label each');
  expect(read(writeLabels([line('a', 1, { question: 'safety' })]))).toThrow('line 1, question: is "safety": expected "policy"');
  expect(read(writeLabels([line('a', true as never)]))).toThrow('line 1, label: is true: expected');
  expect(read('[]')).toThrow('line 1: is []: expected');
});

test('the digest of a conversation depends on what was said and called, not on tokens', () => {
  const node = { id: 0, parent: null, role: 'user' as const, text: 'Hi', tokens: [1], mask: [0], logprobs: [null] };
  const digest = (more: object) => conversationSha256({ nodes: [{ ...node, ...more }], leaf: 0 });
  expect(digest({})).toBe(digest({ tokens: [2] }));
  expect(digest({})).not.toBe(digest({ text: 'Ho' }));
  expect(digest({})).not.toBe(digest({ toolCall: { name: 'x', arguments: {} } }));
});
