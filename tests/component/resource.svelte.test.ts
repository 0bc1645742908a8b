/** Resource: the newest request wins, and the requests before it are aborted. */
import { flushSync } from 'svelte';
import { afterEach, expect, test } from 'vitest';
import { Resource } from '../../src/app/kit/resource.svelte.ts';

interface Asked {
  source: string;
  signal: AbortSignal;
  answer: (value: string) => void;
  fail: (error: unknown) => void;
}

let stop = () => {};
afterEach(() => stop());

/** A resource whose requests the test answers itself. */
function harness(first: string | undefined) {
  let source = $state(first);
  const asked: Asked[] = [];
  let resource!: Resource<string, string>;
  stop = $effect.root(() => {
    resource = new Resource(
      () => source,
      (of, signal) => new Promise((answer, fail) => asked.push({ source: of, signal, answer, fail })),
    );
  });
  const settle = async () => {
    flushSync();
    for (let turn = 0; turn < 4; turn++) await null;
    flushSync();
  };
  return {
    resource,
    asked,
    settle,
    async set(to: string | undefined) {
      source = to;
      await settle();
    },
    get state() {
      const { current, error, stale, fresh } = resource;
      return { current, error: error?.message ?? null, stale, fresh };
    },
  };
}

test('before the first answer nothing is there; the answer is the value', async () => {
  const at = harness('a');
  expect(at.state).toEqual({ current: undefined, error: null, stale: true, fresh: undefined });
  await at.settle();
  expect(at.asked.map(({ source }) => source)).toEqual(['a']);
  at.asked[0]!.answer('A');
  await at.settle();
  expect(at.state).toEqual({ current: 'A', error: null, stale: false, fresh: 'A' });
});

test('a new source aborts the request before, whose late answer is ignored', async () => {
  const at = harness('a');
  await at.settle();
  await at.set('b');
  expect(at.asked.map(({ source, signal }) => [source, signal.aborted])).toEqual([
    ['a', true],
    ['b', false],
  ]);
  at.asked[1]!.answer('B');
  await at.settle();
  at.asked[0]!.answer('A');
  await at.settle();
  expect(at.state).toEqual({ current: 'B', error: null, stale: false, fresh: 'B' });
  expect(at.asked[1]!.signal.aborted).toBe(false);
});

test('the answer before stays while the next request runs, but is not fresh', async () => {
  const at = harness('a');
  await at.settle();
  at.asked[0]!.answer('A');
  await at.settle();
  await at.set('b');
  expect(at.state).toEqual({ current: 'A', error: null, stale: true, fresh: undefined });
});

test('an error replaces the value, and the next answer replaces the error', async () => {
  const at = harness('a');
  await at.settle();
  at.asked[0]!.answer('A');
  await at.set('b');
  at.asked[1]!.fail('no network');
  await at.settle();
  expect(at.state).toEqual({ current: undefined, error: 'no network', stale: false, fresh: undefined });
  await at.set('c');
  at.asked[2]!.answer('C');
  await at.settle();
  expect(at.state).toEqual({ current: 'C', error: null, stale: false, fresh: 'C' });
});

test('an aborted request reports no error', async () => {
  const at = harness('a');
  await at.settle();
  await at.set('b');
  at.asked[0]!.fail(new Error('aborted'));
  await at.settle();
  expect(at.state).toEqual({ current: undefined, error: null, stale: true, fresh: undefined });
});

test('an undefined source loads nothing and clears the value', async () => {
  const at = harness('a');
  await at.settle();
  at.asked[0]!.answer('A');
  await at.set(undefined);
  expect(at.asked).toHaveLength(1);
  expect(at.state).toEqual({ current: undefined, error: null, stale: false, fresh: undefined });
});

test('the same source again is no new request', async () => {
  let tick = $state(0);
  let requests = 0;
  stop = $effect.root(() => {
    new Resource(
      () => `text ${tick * 0}`,
      async () => ++requests,
    );
  });
  flushSync();
  await null;
  tick = 1;
  flushSync();
  await null;
  expect(requests).toBe(1);
});

test('what the request reads is not part of the source', async () => {
  let read = $state(0);
  const seen: number[] = [];
  stop = $effect.root(() => {
    new Resource(
      () => 'same',
      async () => seen.push(read),
    );
  });
  flushSync();
  await null;
  read = 1;
  flushSync();
  await null;
  expect(seen).toEqual([0]);
});

test('a request that throws at once is an error, and leaving the component aborts it', async () => {
  let failing!: Resource<string, string>;
  stop = $effect.root(() => {
    failing = new Resource(
      () => 'a',
      () => {
        throw new Error('at once');
      },
    );
  });
  flushSync();
  for (let turn = 0; turn < 4; turn++) await null;
  expect(failing.error?.message).toBe('at once');
  stop();

  const at = harness('a');
  await at.settle();
  stop();
  expect(at.asked[0]!.signal.aborted).toBe(true);
});
