/** The page's data of a run: the visible group before all rows are read, and events during the read. */
import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { RolloutRows } from '../../../src/app/run-data/rollout-rows.ts';
import { Library } from '../../../src/app/library/library.ts';
import { RunData } from '../../../src/app/run-data/run-data.svelte.ts';
import type { TrainerClient } from '../../../src/app/clients/trainer-client.svelte.ts';
import type { RunListener } from '../../../src/app/clients/trainer-requests.svelte.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import type { RolloutSummary } from '../../../src/records/rollout.ts';

const rollout = (step: number, group: number, index: number, more: Partial<RolloutSummary> = {}): RolloutSummary => ({
  id: `${step}-${group}-${index}`,
  group: `${step}-${group}`,
  index,
  step,
  task: 't',
  intent: 'cancel',
  reward: 0,
  advantage: 0,
  termination: 'user_stop',
  turns: 4,
  tokens: 100,
  violations: 0,
  writes: 0,
  domain: 'retail',
  rules: [],
  tools: [],
  ...more,
});

test('rows by step and group; a later one takes the place of an earlier; steps are forgotten with their groups', () => {
  const rows = new RolloutRows();
  for (const one of [rollout(2, 0, 1), rollout(2, 0, 0), rollout(10, 0, 0), rollout(1, 3, 0), rollout(2, 0, 1, { reward: 1 })])
    rows.put(one);
  expect(rows.steps()).toEqual([1, 2, 10]);
  expect(rows.groups(2).map(({ id, rollouts }) => [id, rollouts.map(({ id, reward }) => `${id} ${reward}`)])).toEqual([
    ['2-0', ['2-0-0 0', '2-0-1 1']],
  ]);
  expect(rows.all()).toHaveLength(4);
  expect(rows.forgetAfter(1).toSorted()).toEqual(['10-0-0', '2-0-0', '2-0-1']);
  expect([rows.steps(), rows.get('2-0-0'), rows.group('2-0'), rows.groups(10)]).toEqual([[1], undefined, undefined, []]);
  expect(rows.get('1-3-0')?.group).toBe('1-3');
});

describe('a run in storage', () => {
  const db = new RunDatabase('run-data');
  const library = new Library(db);
  const STEPS = 1400;
  let tell: RunListener;
  const client = { subscribe: (listener: RunListener) => ((tell = listener), () => {}) } as unknown as TrainerClient;

  beforeAll(async () => {
    vi.stubGlobal('requestAnimationFrame', (done: () => void) => setTimeout(done));
    const own = Array.from({ length: STEPS }, (_, step) =>
      [0, 1].flatMap((group) => [0, 1, 2, 3].map((index) => ({ run: 'r', ...rollout(step + 1, group, index) }))),
    ).flat();
    await db.rollouts.bulkPut([...own, { run: 'q', ...rollout(1, 0, 7) }, { run: 's', ...rollout(1, 0, 8) }]);
    await db.metrics.bulkPut([{ run: 'r', step: 1, values: { step: 1, x: 0.5 } }]);
  });

  test.each([{ id: '700-1-2' }, { group: '700-1' }])('%o is there before the rest, which is not shown in part', async (first) => {
    const data = new RunData('r', client, library, first);
    await vi.waitFor(() => expect(data.group('700-1')?.rollouts).toHaveLength(4), { interval: 1, timeout: 20_000 });
    expect(data.rollout('700-1-3')?.id).toBe('700-1-3');
    expect([data.loaded, data.rollouts, data.steps, data.rollout('700-0-0')]).toEqual([false, [], [], undefined]);
    await vi.waitFor(() => expect(data.loaded).toBe(true), { timeout: 20_000 });
    expect(new Set(data.rollouts.map(({ id }) => id)).size).toBe(STEPS * 8);
    expect(data.steps).toHaveLength(STEPS);
    expect(data.series.latest('x')?.value).toBe(0.5);
    expect(data.error).toBeNull();
  });

  test('one that is not there is missed only when all are read', async () => {
    const data = new RunData('r', client, library, { id: 'nowhere' });
    const seen: boolean[] = [];
    await vi.waitFor(() => (seen.push(data.loaded), expect(data.loaded).toBe(true)), { timeout: 20_000 });
    expect(seen[0]).toBe(false);
    expect(data.rollout('nowhere')).toBeUndefined();
  });

  test('what the trainer says while rows are read is newer than they are', async () => {
    const data = new RunData('r', client, library, { id: '700-1-2' });
    tell('r', [
      { type: 'progress', phase: 'compile', step: 699, totalSteps: STEPS, done: 0, total: 1, left: null },
      { type: 'rollout', rollout: rollout(700, 0, 0, { reward: 1 }) },
    ]);
    await vi.waitFor(() => expect(data.loaded).toBe(true), { timeout: 20_000 });
    expect(data.rollout('700-0-0')?.reward).toBe(1);
    expect([data.rollout('700-1-2'), data.group('700-1'), data.rollout('701-0-0')]).toEqual([undefined, undefined, undefined]);
    expect(data.steps.at(-1)).toBe(700);
  });
});
