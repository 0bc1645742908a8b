/** The state of a dataset's page: what is shown, what is rejected, and what happens if the storage fails. */
import { flushSync } from 'svelte';
import { expect, test, vi } from 'vitest';
import type { DatasetQuery } from '../../src/app/coldstart/dataset-filter.ts';
import { DatasetView } from '../../src/app/coldstart/dataset-view.svelte.ts';
import { readQuery } from '../../src/app/routes/routes.ts';
import type { DatasetConversationRow } from '../../src/records/dataset.ts';

const rows = (['careful', 'brisk', 'brisk'] as const).map((demonstrator, index): DatasetConversationRow => ({
  dataset: 'd',
  index,
  id: `${index}`,
  messages: [],
  demonstrator,
}));

async function open(storage: Partial<ConstructorParameters<typeof DatasetView>[0]> = {}) {
  let query = $state.raw(readQuery('dataset', new URLSearchParams()) as DatasetQuery);
  const reject = vi.fn(async () => {});
  let view!: DatasetView;
  const stop = $effect.root(() => {
    view = new DatasetView({ conversations: async () => rows, reject, ...storage }, 'd', () => query);
  });
  await vi.waitFor(() => expect(view.loaded).toBe(true));
  const ask = (more: Partial<DatasetQuery>) => flushSync(() => (query = { ...query, ...more }));
  return { view, ask, reject, stop };
}
const shown = (view: DatasetView) => view.filtered.rows.map(({ index }) => index);

test('the rows follow the address; all rows of a filter are rejected and restored', async () => {
  const { view, ask, reject, stop } = await open();
  expect([shown(view), view.kept]).toEqual([[0, 1, 2], 3]);
  ask({ demonstrator: 'brisk' });
  expect(shown(view)).toEqual([1, 2]);
  await view.setRejected(view.filtered.rows, true);
  expect(view.kept).toBe(1);
  expect(reject).toHaveBeenLastCalledWith([rows[1], rows[2]], true);
  ask({ state: 'rejected', demonstrator: '' });
  expect(shown(view)).toEqual([1, 2]);
  // Only rows that change are written.
  await view.setRejected([...view.rows], false);
  expect(reject).toHaveBeenLastCalledWith([expect.objectContaining({ index: 1 }), expect.objectContaining({ index: 2 })], false);
  expect([shown(view), view.kept]).toEqual([[], 3]);
  expect(view.row(1)).toEqual(rows[1]);
  stop();
});

test('if the storage fails, the page says so and shows what is stored', async () => {
  const { view, stop } = await open({
    reject: async () => {
      throw new Error('the disk is full');
    },
  });
  await view.setRejected([rows[0]!], true);
  expect([view.error?.message, view.kept]).toEqual(['the disk is full', 3]);
  stop();
});
