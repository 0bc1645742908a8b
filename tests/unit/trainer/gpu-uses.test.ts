/** For every pair of uses of the GPU, the table, the trainer and the messages of the page agree. */
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { availability } from '../../../src/app/clients/availability.ts';
import { gpuHolder } from '../../../src/trainer/gpu-lock.ts';
import { GpuTurns } from '../../../src/trainer/gpu-turns.ts';
import { GPU_USES, type GpuUse, turnOf } from '../../../src/trainer/gpu-uses.ts';
import { lockManager } from '../../support/locks.ts';
import { openTab, settled, withRun } from '../../support/tab.ts';

/** The uses that keep the GPU of their tab until they end. The other uses end when the tab asks for one of these. */
const LONG: readonly GpuUse[] = ['train', 'experiment', 'evaluate'];
const SENTENCES: Record<GpuUse, { here: string; other: string }> = {
  train: {
    here: 'A run trains in this tab and uses the GPU. Stop the run first.',
    other: 'Another tab trains a run and uses the GPU.',
  },
  experiment: {
    here: 'An experiment trains in this tab and uses the GPU. Stop the experiment first.',
    other: 'Another tab trains an experiment and uses the GPU.',
  },
  evaluate: {
    here: 'An evaluation in this tab uses the GPU. Wait for its end or cancel it.',
    other: 'Another tab plays an evaluation and uses the GPU.',
  },
  play: {
    here: 'The model plays a conversation in this tab and uses the GPU. Wait for the end of its turn or stop it.',
    other: 'Another tab plays a conversation and uses the GPU.',
  },
  score: {
    here: 'A conversation is scored in this tab, which uses the GPU. Wait for the scores.',
    other: 'Another tab scores a conversation and uses the GPU.',
  },
  bench: {
    here: 'The speed of the GPU is measured in this tab. Wait for the end or stop the measurement.',
    other: 'Another tab measures the speed of the GPU.',
  },
};
const FREE = { info: { state: 'ready', selfTest: 'passed' }, thisTab: null, otherTab: null, busy: false } as const;

let databases = 0;
let name: string;
beforeEach(() => {
  name = `gpu uses ${databases++}`;
  vi.stubGlobal('navigator', { locks: lockManager() });
});
afterEach(() => vi.unstubAllGlobals());

/** A tab whose engine is loaded only after `go` is called. Until then, a use that has begun does not end. */
function slowTab() {
  let go = () => {};
  const tab = openTab(name, new Promise((resolve) => (go = resolve)));
  return { ...tab, go };
}

describe.each(GPU_USES)('while this tab uses the GPU for “%s”', (now) => {
  test.each(GPU_USES)('and asks for “%s”', async (use) => {
    await withRun(name);
    const tab = slowTab();
    const first = settled(tab.act[now]());
    await expect.poll(() => gpuHolder()).toBe(now);
    const second = settled(tab.act[use]());
    const page = availability({ ...FREE, thisTab: now }, use);
    if (LONG.includes(now) || !LONG.includes(use)) {
      expect([turnOf(now, use), page]).toEqual(['refuses', SENTENCES[now].here]);
      expect(await second).toBe(SENTENCES[now].here);
      tab.go();
      expect(await first).toBe('done');
    } else {
      expect([turnOf(now, use), page]).toEqual(['gives way', '']);
      tab.go();
      expect([await first, await second]).toEqual(['stopped', 'done']);
    }
    expect(await gpuHolder()).toBeNull();
  });
});

describe.each(GPU_USES)('while another tab uses the GPU for “%s”', (now) => {
  test.each(GPU_USES)('this tab asks for “%s”', async (use) => {
    await withRun(name);
    const other = slowTab();
    const first = settled(other.act[now]());
    await expect.poll(() => gpuHolder()).toBe(now);
    expect(await settled(openTab(name).act[use]())).toBe(SENTENCES[now].other);
    expect(availability({ ...FREE, otherTab: now }, use)).toBe(SENTENCES[now].other);
    other.go();
    expect(await first).toBe('done');
  });
});

test('of two that wait for a use to end, one gets the GPU and the other is refused', async () => {
  await withRun(name);
  const tab = slowTab();
  const playing = settled(tab.act.play());
  await expect.poll(() => gpuHolder()).toBe('play');
  const [run, evaluation] = [settled(tab.act.train()), settled(tab.act.evaluate())];
  tab.go();
  expect([await playing, await run, await evaluation]).toEqual(['stopped', 'done', SENTENCES.train.here]);
});

test('only the tab that has the lock of the GPU says so', async () => {
  const locks = lockManager();
  vi.stubGlobal('navigator', { locks });
  const [own, other] = [new GpuTurns(), new GpuTurns()];
  const free = await own.take('bench');
  await expect(other.take('train')).rejects.toThrow('Another tab');
  expect([own.locked, other.locked, await gpuHolder(locks)]).toEqual([true, false, 'bench']);
  await free();
  expect([own.locked, other.locked, await gpuHolder(locks)]).toEqual([false, false, null]);
});
