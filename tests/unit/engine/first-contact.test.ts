/** What is stored of a self-test: that an adapter passed. It is tested again if the store fails, if a week has passed, or if it failed. */
import { beforeAll, expect, test, vi } from 'vitest';
import type { Check } from '../../../src/engine/check.ts';
import { type AdapterStore, firstContact } from '../../../src/engine/first-contact.ts';
import { Gpu } from '../../../src/engine/gpu.ts';
import { modelTest } from '../../../src/engine/model-test.ts';

vi.mock('../../../src/engine/self-test.ts', () => ({ kernelChecks: async () => [] }));
vi.mock('../../../src/engine/model-test.ts', async (original) => ({ ...(await original<object>()), modelTest: vi.fn(async () => []) }));

let gpu: Gpu;
beforeAll(() => {
  // These constants are those of a browser.
  vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
  vi.stubGlobal('GPUShaderStage', { COMPUTE: 4 });
  gpu = device(false);
});

const device = (software: boolean): Gpu => {
  const info = { vendor: 'acme', architecture: '', description: '', software, subgroupSize: 32 };
  return Gpu.counting(info, { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 31 });
};

const memory = (): AdapterStore & { stored: Map<string, unknown> } => {
  const stored = new Map<string, unknown>();
  return { stored, load: async (key) => stored.get(key), save: async (key, value) => stored.set(key, value) };
};
const times = async (store: AdapterStore): Promise<number> => {
  vi.mocked(modelTest).mockClear();
  await firstContact(gpu, { store });
  return vi.mocked(modelTest).mock.calls.length;
};

test('an adapter that passed is not tested again for a week', async () => {
  const store = memory();
  expect(await times(store)).toBe(1);
  expect(await times(store)).toBe(0);
  const [key] = store.stored.keys();
  store.stored.set(key!, { at: Date.now() - 8 * 24 * 3600 * 1000 });
  expect(await times(store)).toBe(1);
  // A clock that was set back, and values of another kind.
  for (const value of [{ at: Date.now() + 1e7 }, { at: 'yesterday' }, 7, null]) {
    store.stored.set(key!, value);
    expect(await times(store)).toBe(1);
  }
});

test('a failure is reported and not stored', async () => {
  const store = memory();
  const wrong: Check = { name: 'log-probs', error: 0.5, most: 1e-4 };
  vi.mocked(modelTest).mockResolvedValueOnce([{ name: 'entropies', error: 0, most: 0 }, wrong]);
  expect(await firstContact(gpu, { store })).toBe('log-probs is off by 0.5: expected at most 0.0001');
  expect(store.stored.size).toBe(0);
});

test('a storage that fails: the adapter is tested, and used', async () => {
  const fails = () => Promise.reject(new Error('no storage'));
  expect(await firstContact(gpu, { store: { load: fails, save: fails } })).toBeNull();
  expect(await times({ load: fails, save: fails })).toBe(1);
});

test('a software adapter is not tested by itself', async () => {
  vi.mocked(modelTest).mockClear();
  await firstContact(device(true), { store: memory() });
  expect(modelTest).not.toHaveBeenCalled();
});
