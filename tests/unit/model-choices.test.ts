/** Weights as the page offers them: all, or those that read the same tokens. */
import 'fake-indexeddb/auto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allWeights, parseRef, refText, weightsFor } from '../../src/app/logic/model-choices.ts';
import { type CheckpointRow, type ModelRow, RunDatabase, type RunRow } from '../../src/storage/database.ts';
import { bundledModels } from '../../src/training/bundled-models.ts';

const db = new RunDatabase('model-choices');
const run = (id: string, createdAt: number, model: string) => ({ id, name: `run ${id}`, createdAt, request: { model } }) as unknown as RunRow;
const model = (id: string, tokenizer: string) => ({ id, name: `model ${id}`, files: { 'tokenizer.json': new Blob([tokenizer]) } }) as unknown as ModelRow;

beforeAll(async () => {
  await db.models.bulkAdd([model('a', 'same'), model('b', 'other'), { ...model('c', 'same'), run: 'old' }]);
  await db.runs.bulkAdd([run('old', 1, 'a'), run('new', 2, 'c'), run('foreign', 3, 'b')]);
  await db.checkpoints.bulkAdd([['old', 10], ['new', 5], ['new', 20], ['foreign', 1], ['deleted', 1]].map(([run, step]) => ({ run, step }) as CheckpointRow));
});
afterAll(() => db.delete());

test('all of them: bundled, brought here, and checkpoints of the newest run first', async () => {
  const names = (await allWeights(db)).map(({ ref }) => refText(ref));
  expect(names).toEqual([...bundledModels, 'a', 'b', 'c', 'foreign@1', 'new@20', 'new@5', 'old@10']);
});

test('each says which run it came out of', async () => {
  const from = Object.fromEntries((await allWeights(db)).map(({ ref, run }) => [refText(ref), run]));
  expect(from).toMatchObject({ 'nano-retail-grpo': 'recorded', 'nano-retail': undefined, c: 'old', 'new@5': 'new' });
});

test('those with the tokenizer of a model, itself first', async () => {
  expect((await weightsFor(db, 'c')).map(({ ref, name }) => [refText(ref), name])).toEqual([
    ['c', 'model c'], ['a', 'model a'], ['new@20', 'run new@20'], ['new@5', 'run new@5'], ['old@10', 'run old@10'],
  ]);
  expect((await weightsFor(db, 'b')).map(({ ref }) => refText(ref))).toEqual(['b', 'foreign@1']);
  expect(await weightsFor(db, 'gone')).toEqual([]);
});

test('weights are written into an address and read back', () => {
  for (const ref of [{ kind: 'model', name: 'nano-retail' }, { kind: 'run', run: '0a1b-c', step: 120 }] as const) expect(parseRef(refText(ref))).toEqual(ref);
});
