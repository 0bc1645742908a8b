/** Experiments in the library: those of the page are read-only, those of this browser are not. */
import 'fake-indexeddb/auto';
import { afterEach, expect, test, vi } from 'vitest';
import { BundledExperiments, Experiments } from '../../../src/app/library/experiments.ts';
import type { RunRow } from '../../../src/records/run.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { EXPERIMENT, finishedRun } from '../../support/experiments.ts';

let db: RunDatabase;
afterEach(() => db.delete());

const run = (id: string, more: Partial<RunRow>) =>
  ({ id, name: id, createdAt: 1, status: 'running', step: 1, config: { seed: 42, total_training_steps: 5 }, ...more }) as RunRow;

function shelf(name: string, fetchOne = async (id: string) => ({ experiment: { ...EXPERIMENT, id }, runs: [finishedRun('kl', 42, [1])] })) {
  db = new RunDatabase(`experiments-${name}`);
  return new Experiments(db, new BundledExperiments(['ours', 'broken'], fetchOne));
}

test('experiments of the page come first and cannot be deleted; one that cannot be read is left out', async () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const experiments = shelf('both', async (id) => {
    if (id === 'broken') throw new Error('no such file');
    return { experiment: { ...EXPERIMENT, id: 'another' }, runs: [finishedRun('kl', 42, [1])] };
  });
  const id = await experiments.create(EXPERIMENT);
  expect((await experiments.list()).map((row) => [row.id, row.bundled ?? false])).toEqual([
    ['ours', true],
    ['kl', false],
  ]);
  expect(warned).toHaveBeenCalledOnce();
  await expect(experiments.delete('ours')).rejects.toThrow('part of this page');
  await experiments.delete(id);
  expect((await experiments.list()).map((row) => row.id)).toEqual(['ours']);
  expect(await experiments.get('kl')).toBeUndefined();
});

test('an id in use gets a number; an import keeps its results', async () => {
  const experiments = shelf('ids');
  const runs = [finishedRun('kl', 42, [1])];
  expect(await experiments.create(EXPERIMENT)).toBe('kl');
  expect(await experiments.import({ experiment: EXPERIMENT, runs })).toBe('kl-2');
  expect(await experiments.create(EXPERIMENT)).toBe('kl-3');
  expect(await experiments.get('kl-2')).toMatchObject({ id: 'kl-2', results: runs, imported: expect.any(Number) });
});

test('runs of a deleted experiment stay, and do not join a new one of the same name', async () => {
  const experiments = shelf('runs');
  await experiments.create(EXPERIMENT);
  await db.runs.bulkAdd([run('a', { experiment: 'kl', variant: 'kl' }), run('b', { experiment: 'kl', variant: 'no_kl', status: 'done' })]);
  await db.metrics.bulkAdd([1, 2].map((step) => ({ run: 'a', step, values: { step, 'perf/time_per_step': 10 * step } })));
  expect(await experiments.begun('kl')).toEqual([{ run: 'a', variant: 'kl', seed: 42, step: 1, steps: 5, seconds: 30 }]);
  await experiments.delete('kl');
  expect(await db.runs.count()).toBe(2);
  await experiments.create(EXPERIMENT);
  expect(await experiments.runs('kl')).toEqual([]);
});
