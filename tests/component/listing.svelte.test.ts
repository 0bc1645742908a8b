/** Lists that the worker keeps: the newest query wins, and rows that are loaded stay while the query only chooses another row. */
import { flushSync } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import { Listing } from '../../src/app/worlds/listing.svelte.ts';
import type { Found } from '../../src/worlds/types.ts';

let stop = () => {};
afterEach(() => stop());

function open() {
  let [words, chosen] = $state(['', '']);
  const answers: { of: string; answer: (found: Found) => void; fail: (error: Error) => void }[] = [];
  const load = vi.fn((from: number, to: number) => Promise.resolve(Array.from({ length: to - from }, (_, i) => from + i)));
  let listing!: Listing<number>;
  stop = $effect.root(() => {
    listing = new Listing(() => {
      const of = `${words}/${chosen}`;
      return { key: words, find: () => new Promise((answer, fail) => answers.push({ of, answer, fail })), load };
    });
  });
  const settle = async () => {
    flushSync();
    for (let turn = 0; turn < 6; turn++) await null;
    flushSync();
  };
  const ask = async (to: { words?: string; chosen?: string }) => {
    words = to.words ?? words;
    chosen = to.chosen ?? chosen;
    await settle();
  };
  return { listing, answers, load, settle, ask };
}

test('rows stay loaded when another row is chosen, and are loaded again for other words', async () => {
  const { listing, answers, load, settle, ask } = open();
  await settle();
  expect([listing.key, listing.total, listing.row(0)]).toEqual([null, 0, undefined]);
  answers[0]!.answer({ total: 5, at: null });
  await settle();
  listing.need(0, 10);
  await settle();
  expect([listing.key, listing.total, listing.at, listing.row(3)]).toEqual(['', 5, null, 3]);
  await ask({ chosen: 'x' });
  answers[1]!.answer({ total: 5, at: 3 });
  await settle();
  expect([listing.at, listing.row(3), load.mock.calls.length]).toEqual([3, 3, 1]);
  await ask({ words: 'w' });
  expect([listing.key, listing.row(3)]).toEqual(['', 3]);
  answers[2]!.answer({ total: 4, at: null });
  await settle();
  expect([listing.key, listing.total, listing.row(3)]).toEqual(['w', 4, undefined]);
});

test('a late answer to earlier words is ignored', async () => {
  const { listing, answers, settle, ask } = open();
  await settle();
  await ask({ words: 'new' });
  answers[1]!.answer({ total: 2, at: null });
  await settle();
  answers[0]!.answer({ total: 9, at: null });
  await settle();
  expect([listing.key, listing.total]).toEqual(['new', 2]);
});

test('an error is told until the next answer, whether the query failed or the rows', async () => {
  const { listing, answers, load, settle, ask } = open();
  await settle();
  answers[0]!.fail(new Error('no worker'));
  await settle();
  expect(listing.error?.message).toBe('no worker');
  await ask({ words: 'w' });
  answers[1]!.answer({ total: 5, at: null });
  await settle();
  expect(listing.error).toBeNull();
  load.mockRejectedValueOnce(new Error('no rows'));
  listing.need(0, 5);
  await settle();
  expect([listing.error?.message, listing.total]).toEqual(['no rows', 5]);
});
