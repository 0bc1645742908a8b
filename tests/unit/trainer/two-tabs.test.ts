/** Two tabs of one browser make every pair of actions, at the same time or one during the other. Engine and customers are fakes. */
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifyStorage } from '../../../src/app/library/verify-storage.ts';
import type { RunDatabase } from '../../../src/storage/database.ts';
import { gpuHolder, watchGpu } from '../../../src/trainer/gpu-lock.ts';
import { GPU_USES } from '../../../src/trainer/gpu-uses.ts';
import { reportFaults } from '../../support/faults.ts';
import { lockManager } from '../../support/locks.ts';
import { type Action, ACTIONS, BASE, openTab, settled, withRun } from '../../support/tab.ts';

/** The actions that need the GPU. */
const ON_GPU: readonly Action[] = ['train', 'resume', 'evaluate', 'play', 'score'];
/** The actions during which the run cannot be deleted. */
const USES_RUN: readonly Action[] = ['resume', 'evaluate'];

let databases = 0;
let name: string;
beforeEach(() => {
  name = `two tabs ${databases++}`;
  vi.stubGlobal('navigator', { locks: lockManager() });
});
afterEach(() => vi.unstubAllGlobals());

async function expectConsistent(database: RunDatabase): Promise<void> {
  expect((await verifyStorage(database)).problems).toEqual([]);
  const statuses = await database.runs.toArray();
  expect(statuses.filter(({ status }) => status === 'running' || status === 'starting')).toEqual([]);
  expect(await gpuHolder()).toBeNull();
}

const PAIRS = ACTIONS.flatMap((first) => ACTIONS.map((second) => [first, second] as const));

test.each(PAIRS)('%s and %s at the same time: the store stays whole', async (first, second) => {
  const content = await withRun(name);
  const [a, b] = [openTab(name), openTab(name)];
  const outcomes = await Promise.all([settled(a.act[first](content)), settled(b.act[second](content))]);
  const allowed = /^done$|^Another tab .*GPU\.$|this run (is being deleted|trains)|there is no run "the-run"|no checkpoint/;
  for (const outcome of outcomes) expect(outcome).toMatch(allowed);
  // Two trainers never work at the same time, and one of them does.
  if (ON_GPU.includes(first) && ON_GPU.includes(second)) expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  await expectConsistent(a.database);
});

test.each(PAIRS.filter(([first]) => ON_GPU.includes(first)))('%s, and within it %s in another tab', async (first, second) => {
  const content = await withRun(name);
  let go = () => {};
  const [a, b] = [openTab(name, new Promise((resolve) => (go = resolve))), openTab(name)];
  const begun = settled(a.act[first](content));
  await expect.poll(() => gpuHolder()).not.toBeNull();
  const outcome = await settled(b.act[second](content));
  if (ON_GPU.includes(second)) expect(outcome).toMatch(/^Another tab .*GPU\.$/);
  else if (second === 'delete' && USES_RUN.includes(first)) expect(outcome).toContain('here or in another tab');
  else expect(outcome).toBe('done');
  go();
  expect(await begun).toBe('done');
  await expectConsistent(a.database);
  const isThere = (await a.database.runs.get(BASE)) !== undefined;
  expect(isThere).toBe(second !== 'delete' || USES_RUN.includes(first));
});

test('a tab hears when another takes the GPU, frees it, or dies', async () => {
  await withRun(name);
  const heard: (string | null)[] = [];
  const { locks } = navigator;
  const channel = new BroadcastChannel('mua-trainer');
  const end = watchGpu(() => void gpuHolder().then((use) => heard.at(-1) !== use && heard.push(use)));
  await expect.poll(() => heard).toEqual([null]);
  for (const use of GPU_USES) {
    // This holder sends no message when it releases the lock.
    let die = () => {};
    void locks.request(`mua-trainer/${use}`, () => new Promise<void>((resolve) => (die = resolve)));
    channel.postMessage(null);
    await expect.poll(() => heard.at(-1)).toBe(use);
    die();
    await expect.poll(() => heard.at(-1)).toBeNull();
  }
  end();
  channel.close();
  reportFaults({
    fault: 'two tabs act on one run: train, resume, evaluate, play, score, delete, import',
    how: 'every pair of actions, at the same time and one during the other, with a fake GPU and a fake customer',
    times: PAIRS.length + PAIRS.filter(([first]) => ON_GPU.includes(first)).length,
    lost: 'nothing: only one tab got the GPU, and no run in use was deleted',
    test: 'tests/unit/trainer/two-tabs.test.ts',
  });
});
