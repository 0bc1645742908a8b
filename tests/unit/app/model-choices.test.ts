/** Weights that the page offers: all weights, or weights with the same tokenizer. */
import 'fake-indexeddb/auto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Library } from '../../../src/app/library/library.ts';
import { parseRef, refText } from '../../../src/app/library/weights.ts';
import type { ModelRow } from '../../../src/records/model.ts';
import type { CheckpointRow, RunRow } from '../../../src/records/run.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { bundledModels } from '../../../src/exchange/bundled-models.ts';
import { SMOLLM2_135M } from '../../../src/training/pretrained.ts';
import { TINY } from '../../support/tiny-config.ts';

const db = new RunDatabase('model-choices');
const library = new Library(db);
const run = (id: string, createdAt: number, model: string) =>
  ({ id, name: `run ${id}`, createdAt, request: { model } }) as unknown as RunRow;
const model = (id: string, tokenizer: string) =>
  ({
    id,
    name: `model ${id}`,
    config: id === 'b' ? SMOLLM2_135M.config : TINY,
    files: { 'tokenizer.json': new Blob([tokenizer]) },
  }) as unknown as ModelRow;

beforeAll(async () => {
  await db.models.bulkAdd([model('a', 'same'), model('b', 'other'), { ...model('c', 'same'), run: 'old' }]);
  await db.runs.bulkAdd([run('old', 1, 'a'), run('new', 2, 'c'), run('foreign', 3, 'b')]);
  await db.checkpoints.bulkAdd(
    [
      ['old', 10],
      ['new', 5],
      ['new', 20],
      ['foreign', 1],
      ['deleted', 1],
    ].map(([run, step]) => ({ run, step }) as CheckpointRow),
  );
});
afterAll(() => db.delete());

test('all weights: bundled models, imported models, and checkpoints of the newest run first', async () => {
  const names = (await library.weights()).map(({ ref }) => refText(ref));
  expect(names).toEqual([...bundledModels, 'a', 'b', 'c', 'foreign@1', 'new@20', 'new@5', 'old@10']);
});

test('each checkpoint names its run', async () => {
  const from = Object.fromEntries((await library.weights()).map(({ ref, run }) => [refText(ref), run]));
  expect(from).toMatchObject({ 'nano-retail-grpo': 'recorded', 'nano-retail': undefined, c: 'old', 'new@5': 'new' });
});

test('weights with the tokenizer of a model, and the model first', async () => {
  expect((await library.weightsFor('c')).map(({ ref, name }) => [refText(ref), name])).toEqual([
    ['c', 'model c'],
    ['a', 'model a'],
    ['new@20', 'run new@20'],
    ['new@5', 'run new@5'],
    ['old@10', 'run old@10'],
  ]);
  expect((await library.weightsFor('b')).map(({ ref }) => refText(ref))).toEqual(['b', 'foreign@1']);
  expect(await library.weightsFor('gone')).toEqual([]);
});

test('weights are written into an address and read back', () => {
  for (const ref of [
    { kind: 'model', name: 'nano-retail' },
    { kind: 'run', run: '0a1b-c', step: 120 },
  ] as const)
    expect(parseRef(refText(ref))).toEqual(ref);
});

test('only a model with a large vocabulary knows English, and so do its checkpoints', async () => {
  const english = (await library.weights()).filter((weights) => weights.english);
  expect(english.map(({ ref }) => refText(ref))).toEqual(['b', 'foreign@1']);
});
