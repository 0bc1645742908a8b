/** The work of a command: the time that an experiment of several runs still takes. */
import { expect, test, vi } from 'vitest';
import { doWork, type TrainOrder, type Workplace } from '../../../src/cli/work.ts';
import type { TrainingSink } from '../../../src/trainer/messages.ts';

/** Runs of 100 s each. Each says after its first second that 99 s are left, and at its end that none are. */
async function timesLeft(labels: string[]): Promise<(number | undefined)[]> {
  vi.useFakeTimers({ toFake: ['performance'] });
  const told: (number | undefined)[] = [];
  const train = async (_: unknown, __: unknown, sink: TrainingSink) => {
    vi.advanceTimersByTime(1000);
    void sink.progress(1, 10, 'rollout 0/32', undefined, 99);
    vi.advanceTimersByTime(99_000);
    void sink.progress(10, 10, 'update 1/1', undefined, 0);
    void sink.progress(10, 10, 'step', { step: 10 });
    return { model: {} };
  };
  const place = {
    trainer: { train },
    files: { write: async () => {} },
    progress: (_: number, __: number, ___: string, ____: unknown, left?: number) => told.push(left),
    note: () => {},
    callable: (callback: object) => callback,
  } as unknown as Workplace;
  const runs = labels.map((label): TrainOrder => ({
    label,
    model: [],
    interrupted: false,
    preset: 'glimpse',
    algorithm: 'grpo',
    overrides: {},
  }));
  await doWork({ command: 'train', runs, user: { mode: 'scripted' } }, place);
  vi.useRealTimers();
  return told.slice(1);
}

test('the time left of several runs counts the later runs, and the time left of one run is its own', async () => {
  expect(await timesLeft([''])).toEqual([99, 0, undefined]);
  expect(await timesLeft(['a', 'b', 'c'])).toEqual([299, 200, undefined, 199, 100, undefined, 99, 0, undefined]);
});
