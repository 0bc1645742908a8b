/** A run whose row disappears while this tab trains it: its page keeps the row, and knows that the run is gone. */
import Dexie from 'dexie';
import { flushSync } from 'svelte';
import { afterAll, expect, test } from 'vitest';
import { RunData } from '../../src/app/run-data/run-data.svelte.ts';
import { RunDatabase } from '../../src/storage/database.ts';

const db = new RunDatabase();
afterAll(async () => {
  db.close();
  await Dexie.delete(db.name);
});

const source = { metrics: async () => [], rolloutPage: async () => [], trajectoryIds: async () => [] };
const library = { run: (id: string) => db.runs.get(id), source: () => source };

test.each(['r', 'another', null])('the storage is cleared while the tab trains %s', async (activeRun) => {
  await db.runs.put({ id: 'r', name: 'kept' } as never);
  const client = { activeRun, subscribe: () => () => {} };
  let data!: RunData;
  const seen: [string | undefined, boolean][] = [];
  const stop = $effect.root(() => {
    data = new RunData('r', client as never, library as never);
    $effect(() => void seen.push([data.row?.name, data.missing]));
  });
  flushSync();
  await expect.poll(() => seen.at(-1)).toEqual(['kept', false]);
  await db.runs.clear();
  await expect.poll(() => seen.at(-1)).toEqual([activeRun === 'r' ? 'kept' : undefined, true]);
  data.close();
  stop();
});
