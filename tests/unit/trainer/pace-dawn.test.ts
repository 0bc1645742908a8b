/** The pauses between Dawn's questions to the GPU. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { paceDawn } from '../../../src/trainer/node/pace-dawn.ts';

const { setImmediate: original } = globalThis;
const pauses = vi.spyOn(Atomics, 'wait');
beforeEach(() => {
  pauses.mockClear();
  paceDawn();
});
afterEach(() => {
  globalThis.setImmediate = original;
});

/** A function as Dawn makes it: native, without a name. */
const nameless = (of: () => void): (() => void) => Object.defineProperty(of.bind(null), 'name', { value: '' });

/** Calls `setImmediate` again in each turn, as Dawn does while it waits. Returns a function that stops this. */
function ask(wrap: (of: () => void) => () => void): () => void {
  let waiting = true;
  const again = wrap(() => {
    if (waiting) setImmediate(again);
  });
  setImmediate(again);
  return () => (waiting = false);
}
const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise((done) => original(done));
};

test('the thread sleeps before each question of Dawn, for less than a decoding step', async () => {
  const stop = ask(nameless);
  await turns(100);
  stop();
  expect(pauses.mock.calls.length).toBeGreaterThanOrEqual(99);
  expect(pauses.mock.calls.every(([, , , milliseconds]) => milliseconds! > 0 && milliseconds! < 1)).toBe(true);
});

test('the thread never sleeps for other code, nor while other code has something to do', async () => {
  const stop = ask((of) => () => of());
  const stopDawn = ask(nameless);
  await turns(100);
  stopDawn();
  stop();
  expect(pauses).not.toHaveBeenCalled();
});

test('callbacks get their values, and can be cancelled', async () => {
  const called = vi.fn();
  setImmediate(called, 1, 'a');
  clearImmediate(setImmediate(called, 2));
  await turns(2);
  expect(called.mock.calls).toEqual([[1, 'a']]);
});
