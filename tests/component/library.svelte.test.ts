/** Live queries of the library hear changes of the browser's storage, also those whose answer includes the recorded run. */
import { flushSync } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import { Library } from '../../src/app/library/library.ts';
import { RecordedSource } from '../../src/app/library/recorded-source.ts';
import { LiveQuery } from '../../src/app/kit/live-query.svelte.ts';
import type { BranchRow } from '../../src/records/branch.ts';
import type { RunContent } from '../../src/records/bundle.ts';
import type { EvaluationRow } from '../../src/records/evaluation.ts';
import type { CheckpointRow, RunRow } from '../../src/records/run.ts';
import { RunDatabase } from '../../src/storage/database.ts';

const EMPTY = { metrics: [], rollouts: [], trajectories: [], branches: [], evaluations: [], trials: [], model: null };
const recorded = { ...EMPTY, run: { id: 'r', name: 'recorded run' } as RunRow } satisfies RunContent;
const run = (id: string, createdAt: number) => ({ id, name: id, createdAt, request: { model: 'nano-retail' } }) as RunRow;

let stop = () => {};
let db: RunDatabase;
afterEach(async () => {
  stop();
  await db.delete();
});

/** The answers of a live query, the newest last. */
function watch<T>(name: string, query: (library: Library) => Promise<T>): T[] {
  db = new RunDatabase(`live-${name}`);
  const library = new Library(
    db,
    // A slow bundle: awaiting it must not end the observation of the storage.
    [new RecordedSource('recorded', () => new Promise((resolve) => setTimeout(() => resolve(recorded), 20)))],
  );
  const seen: T[] = [];
  stop = $effect.root(() => {
    const live = new LiveQuery(() => query(library));
    $effect(() => {
      if (live.answered) seen.push(live.current!);
    });
  });
  flushSync();
  return seen;
}

test('a new run appears in the list of runs', async () => {
  const seen = watch('runs', async (library) => (await library.runs()).map(({ id }) => id));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(['recorded']));
  await db.runs.add(run('first', 1));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(['first', 'recorded']));
  await db.runs.add(run('second', 2));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(['second', 'first', 'recorded']));
});

test('a run changes, and so does its row', async () => {
  const seen = watch('run', (library) => library.run('first'));
  await vi.waitFor(() => expect(seen).toEqual([undefined]));
  await db.runs.add(run('first', 1));
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ name: 'first' }));
  await db.runs.update('first', { name: 'renamed' });
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ name: 'renamed' }));
});

test('a new evaluation appears, and a deleted evaluation goes', async () => {
  const seen = watch('evaluations', async (library) => (await library.evaluations()).map(({ id }) => id));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual([]));
  await db.evaluations.add({ id: 'e', createdAt: 1, run: '' } as EvaluationRow);
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(['e']));
  await new Library(db).delete({ kind: 'evaluation', id: 'e' });
  await vi.waitFor(() => expect(seen.at(-1)).toEqual([]));
});

test('an evaluation that is looked up by its id appears when it is stored', async () => {
  const seen = watch('evaluation', (library) => library.evaluation('e'));
  await vi.waitFor(() => expect(seen).toEqual([undefined]));
  await db.evaluations.add({ id: 'e', createdAt: 1, run: '' } as EvaluationRow);
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ id: 'e' }));
});

test('a new checkpoint is among the weights', async () => {
  const seen = watch('weights', async (library) => (await library.weights()).flatMap(({ ref }) => (ref.kind === 'run' ? [ref.step] : [])));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual([]));
  await db.runs.add(run('first', 1));
  await db.checkpoints.add({ run: 'first', step: 7 } as CheckpointRow);
  await vi.waitFor(() => expect(seen.at(-1)).toEqual([7]));
});

test('a branch enters and leaves the training set', async () => {
  const seen = watch('training', async (library) => (await library.trainingSet()).map(({ id }) => id));
  await vi.waitFor(() => expect(seen.at(-1)).toEqual([]));
  const library = new Library(db);
  await library.putBranches([{ id: 'b', createdAt: 1, origin: 'task:x', conversation: { messages: [] } } as unknown as BranchRow]);
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(['b']));
  await library.setTraining([{ id: 'b', conversation: undefined }]);
  await vi.waitFor(() => expect(seen.at(-1)).toEqual([]));
});
