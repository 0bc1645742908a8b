/** Settings → Verify: stored data is undamaged, or the damaged part is reported. */
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { storeRun } from '../../../src/app/library/import-run.ts';
import { Library } from '../../../src/app/library/library.ts';
import { verifyStorage } from '../../../src/app/library/verify-storage.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { modelRow } from '../../../src/trainer/stored-models.ts';

const NAMES = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
const files = Object.fromEntries(NAMES.map((name) => [name, new Uint8Array(readFileSync(`models/nano-retail/${name}`))]));

let db: RunDatabase;
let run: string;
beforeEach(async () => {
  db = new RunDatabase(`verify ${expect.getState().currentTestName}`);
  const bundle = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  run = await storeRun(db, { ...bundle, trajectories: bundle.trajectories.slice(0, 3), evaluations: [], trials: [], branches: [] }, []);
  await db.models.put(await modelRow('m', files));
});

test('what is whole passes; the page’s library asks for the same', async () => {
  const seen: number[] = [];
  const report = await new Library(db, []).verify((checked) => seen.push(checked));
  expect(report.problems).toEqual([]);
  expect(report.checked).toBe(seen.at(-1));
  expect(report.checked).toBeGreaterThan(100);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  [
    'a conversation',
    async () => db.trajectories.update((await first())!, { turns: 'many' as unknown as number }),
    /^Conversation .* of .*: .*turns/,
  ],
  ['a conversation without its row', async () => db.rollouts.delete((await first())!), /its row in the list of rollouts is missing/],
  ['rows without their run', () => db.runs.clear(), /^A row of metrics: its run .* is missing/],
  [
    'a model',
    async () => db.models.update((await db.models.toCollection().primaryKeys())[0]!, { 'files.config.json': new Blob(['{']) }),
    /^Model /,
  ],
  [
    'a checkpoint',
    () =>
      db.checkpoints.put({
        run,
        step: 3,
        savedAt: 0,
        weights: new Blob(['x']),
        reference: null,
        optimizer: new Blob(),
        state: { optimizerStep: 3 },
        sha256: { weights: '', reference: null, optimizer: '' },
        origin: { app: '1', adapter: 'a', model: 'm', config: 'c' },
      }),
    /^Checkpoint of step 3 of .*: its files are damaged/,
  ],
])('%s is named', async (_, damage, problem) => {
  await damage();
  const { problems } = await verifyStorage(db);
  expect(
    problems.some((text) => problem.test(text)),
    JSON.stringify(problems).slice(0, 500),
  ).toBe(true);
});

const first = async () => (await db.trajectories.toCollection().primaryKeys())[0];
