/** Checkpoints in storage: each is complete, or it is reported as damaged and the checkpoint before is used. */
import 'fake-indexeddb/auto';
import { beforeEach, expect, test } from 'vitest';
import { randomWeights } from '../../../src/engine/parameters.ts';
import type { Engine } from '../../../src/engine/types.ts';
import {
  checkpointRow,
  checkpointWeights,
  keepCheckpoint,
  loadCheckpoint,
  readCheckpoint,
  resumeNote,
} from '../../../src/trainer/checkpoints.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { reportFaults } from '../../support/faults.ts';
import { TINY } from '../../support/tiny-config.ts';

const ORIGIN = { app: '1', adapter: 'a', model: 'm', config: 'c' };
const weights = (step: number) => randomWeights(TINY, step);
const engineAt = (step: number) =>
  ({
    weights: async () => weights(step),
    optimizerState: async () => ({ step, m: weights(step + 10), v: weights(step + 20) }),
  }) as unknown as Engine;

let db: RunDatabase;
beforeEach(async () => {
  db = new RunDatabase(`checkpoints ${expect.getState().currentTestName}`);
  for (const step of [1, 2])
    await keepCheckpoint(db, await checkpointRow('r', await readCheckpoint(step, engineAt(step), weights(0)), ORIGIN));
});

test('is loaded as it was saved', async () => {
  const { checkpoint, damaged, origin } = await loadCheckpoint(db, 'r');
  expect(damaged).toEqual([]);
  expect(origin).toEqual(ORIGIN);
  expect(checkpoint).toEqual({
    step: 2,
    weights: weights(2),
    reference: weights(0),
    optimizer: { step: 2, m: weights(12), v: weights(22) },
  });
  expect(await loadCheckpoint(db, 'another run')).toEqual({ checkpoint: null, damaged: [] });
});

test('one damage of 100: the checkpoint before is loaded, and nothing else is lost', async () => {
  const row = (await db.checkpoints.get(['r', 2]))!;
  for (let i = 0; i < 100; i++) {
    const name = (['weights', 'reference', 'optimizer'] as const)[i % 3]!;
    const bytes = new Uint8Array(await row[name]!.arrayBuffer());
    const at = Math.floor((i / 100) * bytes.length);
    // Flip one bit, overwrite 64 bytes, or cut the end off.
    if (i % 5 < 3) bytes[at] = bytes[at]! ^ (1 << (i % 8));
    else if (i % 5 === 3) bytes.fill(bytes[at] === 0 ? 1 : 0, at, at + 64);
    await db.checkpoints.put({ ...row, [name]: new Blob([i % 5 === 4 ? bytes.slice(0, at) : bytes]) });
    const { checkpoint, damaged } = await loadCheckpoint(db, 'r');
    expect([checkpoint?.step, damaged], `${name}, damage ${i}`).toEqual([1, [2]]);
    if (name === 'weights') await expect(checkpointWeights(db, 'r', 2)).rejects.toThrow('the checkpoint of step 2 is damaged');
  }
  await db.checkpoints.put(row);
  expect((await loadCheckpoint(db, 'r')).checkpoint?.step).toBe(2);
  reportFaults({
    fault: 'the newest checkpoint is damaged',
    how: 'in each of its files a bit is flipped, 64 bytes are overwritten, or the end is cut off',
    times: 100,
    lost: 'the steps after the previous checkpoint; the message names the damage',
    test: 'tests/unit/trainer/checkpoints.test.ts',
  });
});

test('a run whose checkpoints are all damaged is not begun again', async () => {
  for (const step of [1, 2]) await db.checkpoints.update(['r', step], { weights: new Blob([]) });
  await expect(loadCheckpoint(db, 'r')).rejects.toThrow('the checkpoints of steps 2 and 1 are damaged: the run cannot go on');
});

test('what changed since the checkpoint is said in one sentence', async () => {
  const loaded = await loadCheckpoint(db, 'r');
  expect(resumeNote(loaded, ORIGIN)).toBe('');
  expect(resumeNote({ ...loaded, origin: undefined }, ORIGIN)).toBe('');
  expect(resumeNote(loaded, { ...ORIGIN, app: '2', model: 'n' })).toBe(
    'Since the checkpoint, the version of the playground and the first model changed: results may differ in their last bits.',
  );
});
