/** The queue of an experiment on its page: progress, start, stop, and what the trainer gets. */
import { flushSync } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import { Queue } from '../../src/app/experiments/queue.svelte.ts';
import { TrainerClient } from '../../src/app/clients/trainer-client.svelte.ts';
import type { BegunRun } from '../../src/app/library/experiments.ts';
import type { ExperimentRow } from '../../src/records/experiment.ts';
import type { UserConfig } from '../../src/records/user.ts';
import type { Trainer } from '../../src/trainer/connect.ts';
import type { RunEvent } from '../../src/trainer/messages.ts';
import { EXPERIMENT, finishedRun } from '../support/experiments.ts';

let dispose = () => {};
afterEach(() => dispose());

const ROW: ExperimentRow = { ...EXPERIMENT, createdAt: 1, results: [finishedRun('kl', 42, [1])] };
const BEGUN: BegunRun = { run: 'r', variant: 'no_kl', seed: 42, step: 1, steps: 4, seconds: 20 };

/** A trainer whose queue ends when the test says so. */
function trained(row = ROW, user: UserConfig = { mode: 'scripted' }) {
  let end = () => {};
  let hear: (run: string, events: RunEvent[]) => void = () => {};
  const trainer = {
    listen: async (listener: typeof hear) => void (hear = listener),
    listenToActivities: async () => {},
    runExperiment: vi.fn(() => new Promise<void>((resolve) => (end = resolve))),
    stopExperiment: vi.fn(async () => end()),
    resume: vi.fn(),
  };
  const client = new TrainerClient(async () => ({ trainer: trainer as unknown as Trainer, user: null as never, end: () => {} }));
  client.info = { state: 'ready', vendor: '', architecture: '', description: '', software: false, subgroupSize: 0, selfTest: 'passed' };
  let queue!: Queue;
  dispose = $effect.root(() => {
    queue = new Queue(
      () => row,
      () => [BEGUN],
      client,
      { user },
    );
  });
  return { client, trainer, queue, end: () => end(), hear: (events: RunEvent[]) => hear('r', events) };
}

test('before the start: what is finished, and how long the rest takes', () => {
  const { queue } = trained();
  expect([queue.finished, queue.total, queue.active, queue.waiting, queue.begun, queue.blocked]).toEqual([1, 6, false, true, true, '']);
  expect(queue.secondsLeft).toBe(5 * 60);
  expect(queue.current).toBeNull();
});

test('while it runs, the GPU is taken between two runs too; the trainer itself resumes a run after a lost device', async () => {
  const { client, trainer, queue, end, hear } = trained();
  const running = queue.start();
  await vi.waitFor(() => expect(trainer.runExperiment).toHaveBeenCalledWith('kl', { mode: 'scripted' }));
  expect([queue.active, queue.waiting, client.activeRun, queue.current]).toEqual([true, false, null, null]);
  expect(client.availability('evaluate')).toBe('An experiment trains in this tab and uses the GPU. Stop the experiment first.');

  hear([
    { type: 'status', status: 'starting' },
    { type: 'progress', step: 3, totalSteps: 4, phase: 'rollout', done: 0, total: 1, left: null },
  ]);
  flushSync();
  expect(client.activeRun).toBe('r');
  // Step 3 is under way: 2 of 4 steps are finished.
  expect(queue.current).toMatchObject({ run: 'r', variant: 'no_kl', step: 2, steps: 4 });
  expect(queue.done).toBe(1.5);

  hear([{ type: 'status', status: 'interrupted', message: 'the driver was reset' }]);
  expect([client.activeRun, client.recovering, queue.active]).toEqual([null, false, true]);
  expect(trainer.resume).not.toHaveBeenCalled();
  end();
  await running;
  expect([queue.active, client.problem]).toEqual([false, '']);
  expect(client.availability('evaluate')).toBe('');
});

test('stopping waits for the step under way; a failed run is named', async () => {
  const { client, trainer, queue } = trained();
  const running = queue.start();
  await vi.waitFor(() => expect(trainer.runExperiment).toHaveBeenCalledOnce());
  const stopped = queue.stop();
  expect(queue.stopping).toBe(true);
  await Promise.all([stopped, running]);
  expect([queue.stopping, queue.active]).toEqual([false, false]);

  trainer.runExperiment.mockRejectedValueOnce(new Error('run "brisk-otter" (kl, seed 43) ended: out of memory'));
  await queue.start();
  expect(client.problem).toBe('run "brisk-otter" (kl, seed 43) ended: out of memory');
});

test('a blocked, a bundled and a finished experiment do not start', async () => {
  const { client, trainer, queue } = trained();
  client.otherTab = 'train';
  await queue.start();
  expect(queue.blocked).toBe('Another tab trains a run and uses the GPU.');
  dispose();
  const results = EXPERIMENT.seeds.flatMap((seed) => [finishedRun('kl', seed, [1]), finishedRun('no_kl', seed, [1])]);
  for (const row of [
    { ...ROW, bundled: true },
    { ...ROW, results },
  ]) {
    const other = trained(row);
    expect(other.queue.waiting).toBe(false);
    await other.queue.start();
    expect(other.trainer.runExperiment).not.toHaveBeenCalled();
    dispose();
  }
  expect(trainer.runExperiment).not.toHaveBeenCalled();
});

test('the key of an endpoint comes from the settings, and only for the same endpoint', async () => {
  const endpoint = { mode: 'endpoint', baseUrl: 'http://localhost/v1', model: 'm' } as const;
  for (const [baseUrl, apiKey] of [
    ['http://localhost/v1', 'secret'],
    ['http://elsewhere/v1', undefined],
  ] as const) {
    const row = { ...ROW, base: { ...ROW.base, user: endpoint } };
    const { trainer, queue, end } = trained(row, { ...endpoint, baseUrl, apiKey: 'secret' });
    const running = queue.start();
    await vi.waitFor(() => expect(trainer.runExperiment).toHaveBeenCalledOnce());
    expect((trainer.runExperiment.mock.calls as unknown as [string, { apiKey?: string }][])[0]![1].apiKey).toBe(apiKey);
    end();
    await running;
    dispose();
  }
});
