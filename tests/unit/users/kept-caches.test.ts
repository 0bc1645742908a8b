/** KV caches of conversations in the tab: which part of a cache fits a new prompt, and how much is kept. */
import type { DynamicCache } from '@huggingface/transformers';
import { expect, test } from 'vitest';
import { KeptCaches } from '../../../src/local/kept-caches.ts';

/** The parts of transformers.js's tensors and caches that are used. Its own do not work in Node without onnxruntime-node. */
class FakeTensor {
  readonly location = 'cpu';
  constructor(
    readonly type: string,
    readonly data: Float32Array,
    readonly dims: number[],
  ) {}
  get size() {
    return this.data.length;
  }
}
class FakeCache {
  constructor(tensors: Record<string, FakeTensor>) {
    Object.assign(this, tensors);
  }
  get_seq_length() {
    return Object.values(this as unknown as Record<string, FakeTensor>)[0]!.dims[2];
  }
  async dispose() {}
}

/** Two heads of width 1. The value of token t in head h is 10 h + t. */
const tensor = (length: number) =>
  new FakeTensor(
    'float32',
    Float32Array.from({ length: 2 * length }, (_, i) => 10 * Math.floor(i / length) + (i % length)),
    [1, 2, length, 1],
  );
const cacheOf = (length: number, more: Record<string, FakeTensor> = {}) =>
  new FakeCache({
    'past_key_values.0.key': tensor(length),
    'past_key_values.0.value': tensor(length),
    ...more,
  }) as unknown as DynamicCache;
const dataOf = (cache: DynamicCache | null) => cache && [...(cache['past_key_values.0.value']!.data as Float32Array)];

test('a prompt that continues the conversation gets its whole cache, once', async () => {
  const caches = new KeptCaches();
  const cache = cacheOf(3);
  // The last written token has no keys and values yet.
  await caches.keep('a', [1, 2, 3, 4], cache);
  expect(await caches.take('b', [1, 2, 3, 4, 5])).toBeNull();
  expect(await caches.take('a', [1, 2, 3, 4, 5])).toBe(cache);
  expect(cache.get_seq_length()).toBe(3);
  expect(await caches.take('a', [1, 2, 3, 4, 5])).toBeNull();
});

test.each([
  ['a prompt that differs from token 2 on', [1, 2, 7, 4, 5], [0, 1, 10, 11]],
  ['the same prompt, of which one token must be computed', [1, 2, 3], [0, 1, 10, 11]],
  ['a prompt that differs after the cached tokens', [1, 2, 3, 9], [0, 1, 2, 10, 11, 12]],
])('%s gets the part of the cache that fits', async (_, prompt, expected) => {
  const caches = new KeptCaches();
  await caches.keep('a', [1, 2, 3, 4], cacheOf(3));
  const cache = await caches.take('a', prompt);
  expect(dataOf(cache)).toEqual(expected);
  expect(cache!['past_key_values.0.key']!.dims).toEqual([1, 2, expected.length / 2, 1]);
});

test('a prompt that shares nothing, and a model with another kind of state, get no cache', async () => {
  const caches = new KeptCaches();
  await caches.keep('a', [1, 2, 3], cacheOf(2));
  expect(await caches.take('a', [9, 2, 3, 4])).toBeNull();
  await caches.keep('a', [1, 2, 3], cacheOf(2, { past_conv: tensor(2) }));
  expect(await caches.take('a', [1, 9, 3, 4])).toBeNull();
});

test('the newest cache stays although it is too large, until another conversation begins', async () => {
  // A cache of n tokens has 16 n bytes.
  const caches = new KeptCaches(40);
  await caches.keep('a', [1], cacheOf(1));
  await caches.keep('b', [1, 2, 3], cacheOf(3));
  expect(await caches.take('a', [1, 2])).toBeNull();
  expect(await caches.take('b', [1, 2, 3, 4])).toBeNull();
  await caches.keep('b', [1, 2, 3], cacheOf(3));
  expect((await caches.take('b', [1, 2, 3, 4]))!.get_seq_length()).toBe(3);
});
