/** Closing, aborting and failing at any moment: the caller gets an error, and the device and other engines keep working. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEngine, type EngineOptions } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import type { Engine, TensorMap, TrainSequence } from '../../src/engine/types.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';
import { type Fixture, loadFixture } from '../support/fixtures.ts';

let gpu: Gpu;
let fixture: Fixture;
let engine: Engine;
const errors: string[] = [];
beforeAll(async () => {
  gpu = await Gpu.create();
  gpu.device.addEventListener('uncapturederror', ({ error }) => errors.push(error.message));
  fixture = await loadFixture('qwen3');
});
afterAll(() => gpu.destroy());
const create = (options: EngineOptions = {}): Promise<Engine> =>
  createEngine(gpu, fixture.config, fixture.weights, { maxModelLen: 64, slots: 2, maxTokens: 64, ...options });
beforeEach(async () => {
  engine = await create();
});
afterEach(async () => {
  vi.restoreAllMocks();
  engine.destroy();
  await gpu.device.queue.onSubmittedWorkDone();
  expect(errors).toEqual([]);
});

const ids = (count: number, first = 1): number[] => Array.from({ length: count }, (_, i) => (first + 7 * i) % 200);
const trained = (tokens: number[]): TrainSequence => ({ tokens, lossMask: tokens.map((_, t) => Number(t > 30)), weight: 0.01 });
/** Three micro-batches of 64 tokens. */
const batch = [1, 2, 3].map((first) => trained(ids(60, first)));

async function generate(own: Engine, prompt = ids(40)): Promise<number[]> {
  const sequence = await own.sampler.open({ seed: 1, stream: 1 });
  try {
    own.sampler.append(sequence, prompt);
    return (await own.sampler.generate(sequence, { maxNewTokens: 6, temperature: 1, stopTokenIds: [] })).tokens;
  } finally {
    own.sampler.close(sequence);
  }
}
const step = (own: Engine) => own.step(fixture.figures.adamw.params);
const moments = (): { step: number; m: TensorMap; v: TensorMap } => ({ step: 3, m: fixture.weights, v: fixture.weights });

const uses: [string, (own: Engine) => Promise<unknown>][] = [
  ['generate', generate],
  ['score', (own) => own.score(batch)],
  ['accumulate', (own) => own.accumulate(batch, sftLoss)],
  ['step', step],
  ['snapshotReference', (own) => own.snapshotReference()],
  ['loadOptimizerState', (own) => own.loadOptimizerState(moments())],
  ['weights', (own) => own.weights()],
  ['optimizerState', (own) => own.optimizerState()],
];

describe('an engine that is closed', () => {
  test.each(uses.slice(0, 6))('while it compiles for %s, refuses to continue and leaves the device alive', async (_, use) => {
    const ready = gpu.ready.bind(gpu);
    vi.spyOn(gpu, 'ready').mockImplementation(async () => {
      await ready();
      engine.destroy();
    });
    await expect(use(engine)).rejects.toThrow('this engine was closed');
  });

  test.each(uses)('at any moment of a second %s, refuses to continue and leaves the device alive', async (_, use) => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const own = await create();
      await use(own);
      const outcome = use(own).catch((error: Error) => error.message);
      for (let tick = 0; tick < ticks; tick++) await null;
      own.destroy();
      const got = await outcome;
      if (typeof got === 'string') expect(got).toMatch('this engine was closed');
      await gpu.device.queue.onSubmittedWorkDone();
      expect(errors, `after ${ticks} microtasks`).toEqual([]);
    }
    expect(await generate(engine)).toHaveLength(6);
  });
});

describe('an accumulate that does not finish', () => {
  /** The weights after one complete `accumulate` and one optimizer step. */
  async function updated(own: Engine): Promise<Float32Array> {
    await own.accumulate(batch, sftLoss);
    await step(own);
    return (await own.weights()).get('model.norm.weight')!.data;
  }

  test.each<[string, (abort: AbortController) => void]>([
    ['was aborted', (abort) => abort.abort(new Error('stopped'))],
    [
      'failed',
      () => {
        throw new Error('stopped');
      },
    ],
  ])('because it %s leaves no gradients, and the next step needs new gradients', async (_, stop) => {
    const abort = new AbortController();
    const run = gpu.run.bind(gpu);
    let runs = 0;
    vi.spyOn(gpu, 'run').mockImplementation((...args) => {
      run(...args);
      if (++runs === 2) stop(abort);
    });
    await expect(engine.accumulate(batch, sftLoss, { signal: abort.signal })).rejects.toThrow('stopped');
    expect(runs).toBe(2);
    vi.restoreAllMocks();
    for (const [name, { data }] of await engine.gradients()) expect(Math.max(...data.map(Math.abs)), name).toBe(0);
    await expect(step(engine)).rejects.toThrow('the last accumulate was aborted or failed');
    for (const [name, { data }] of await engine.weights()) expect(data, name).toEqual(fixture.weights.get(name)!.data);
    const other = await create();
    expect(await updated(engine)).toEqual(await updated(other));
    other.destroy();
  });

  test('because reads fail leaves no rejection unhandled', async () => {
    await engine.accumulate(batch, sftLoss);
    const unhandled: unknown[] = [];
    const listen = (event: PromiseRejectionEvent): void => {
      event.preventDefault();
      unhandled.push(event.reason);
    };
    window.addEventListener('unhandledrejection', listen);
    let reads = 0;
    vi.spyOn(gpu, 'read').mockImplementation(async () => {
      const own = ++reads;
      await new Promise((resolve) => setTimeout(resolve, 5 * own));
      throw new Error(`read ${own}`);
    });
    await expect(engine.accumulate(batch, sftLoss)).rejects.toThrow('read 1');
    await new Promise((resolve) => setTimeout(resolve, 50));
    window.removeEventListener('unhandledrejection', listen);
    expect(reads).toBe(2);
    expect(unhandled).toEqual([]);
  });
});

test('after a failed round of the sampler, the cache holds no page that was never computed', async () => {
  const other = await create();
  const expected = await generate(other);
  other.destroy();
  await generate(engine, ids(5, 9));
  const sequence = await engine.sampler.open({ seed: 1, stream: 1 });
  engine.sampler.append(sequence, ids(40));
  const params = { maxNewTokens: 6, temperature: 1, stopTokenIds: [] };
  vi.spyOn(gpu, 'run').mockImplementationOnce(() => {
    throw new Error('no run');
  });
  await expect(engine.sampler.generate(sequence, params)).rejects.toThrow('no run');
  expect(await generate(engine)).toEqual(expected);
  expect((await engine.sampler.generate(sequence, params)).tokens).toEqual(expected);
  engine.sampler.close(sequence);
});

test('after a decode that failed, no sequence gets the samples of the prefill before it', async () => {
  const [first, second] = [ids(40), ids(30, 3)];
  const other = await create();
  const expected = [await generate(other, first), await generate(other, second)];
  other.destroy();
  const { sampler } = engine;
  const params = { maxNewTokens: 2, temperature: 1, stopTokenIds: [] };
  const [decoding, prefilled] = await Promise.all([1, 2].map((stream) => sampler.open({ seed: 1, stream })));
  sampler.append(decoding!, first);
  sampler.append(prefilled!, second);
  await sampler.generate(decoding!, params);
  const run = gpu.run.bind(gpu);
  const runs = vi.spyOn(gpu, 'run');
  runs.mockImplementationOnce(run).mockImplementationOnce(() => {
    throw new Error('no run');
  });
  const calls = [decoding!, prefilled!].map((sequence) => sampler.generate(sequence, params));
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  for (const sequence of [decoding!, prefilled!]) sampler.close(sequence);
  expect(runs).toHaveBeenCalledTimes(2);
  expect(await Promise.all([generate(engine, first), generate(engine, second)])).toEqual(expected);
});

test('every buffer is allocated inside an error scope', async () => {
  const { device } = gpu;
  const unscoped: string[] = [];
  let scopes = 0;
  const [push, pop, createBuffer] = [device.pushErrorScope, device.popErrorScope, device.createBuffer].map((f) => f.bind(device)) as [
    GPUDevice['pushErrorScope'],
    GPUDevice['popErrorScope'],
    GPUDevice['createBuffer'],
  ];
  vi.spyOn(device, 'pushErrorScope').mockImplementation((filter) => {
    scopes += Number(filter === 'out-of-memory');
    push(filter);
  });
  vi.spyOn(device, 'popErrorScope').mockImplementation(() => {
    scopes = Math.max(0, scopes - 1); // the inner scope is for memory
    return pop();
  });
  vi.spyOn(device, 'createBuffer').mockImplementation((descriptor) => {
    if (scopes === 0) unscoped.push(descriptor.label!);
    return createBuffer(descriptor);
  });
  const own = await create({ maxTokens: 192 });
  for (const [, use] of uses) await use(own);
  await own.score(batch, { topLogprobs: 3 });
  own.destroy();
  expect(unscoped).toEqual([]);
});

test('of two first calls at once, the call without memory fails, and the other call gets its own buffers', async () => {
  const pop = gpu.device.popErrorScope.bind(gpu.device);
  vi.spyOn(gpu.device, 'popErrorScope').mockImplementationOnce(async () => {
    await pop();
    return new GPUOutOfMemoryError('full');
  });
  const calls = [engine.accumulate(batch, sftLoss), engine.accumulate(batch, sftLoss)];
  await expect(calls[0]).rejects.toThrow('full');
  await calls[1];
  expect((await step(engine)).gradNorm).toBeGreaterThan(0);
});

test('with a low speed estimate a program is split into many submits, and gives the same bits', async () => {
  const submits = vi.spyOn(gpu.device.queue, 'submit');
  const gradients = async (rate: number): Promise<{ all: TensorMap; count: number }> => {
    engine.zeroGradients();
    gpu.pacer.rate = rate;
    submits.mockClear();
    const scoring = engine.accumulate(batch.slice(0, 1), sftLoss);
    await scoring;
    const count = submits.mock.calls.length;
    return { all: await engine.gradients(), count };
  };
  await engine.accumulate(batch, sftLoss);
  const whole = await gradients(1e12);
  const cut = await gradients(1);
  // The program, and one copy of the results.
  expect(whole.count).toBe(2);
  expect(cut.count).toBeGreaterThan(40);
  for (const [name, { data }] of whole.all) expect(cut.all.get(name)!.data, name).toEqual(data);
});

test('300 steps of sampling and training allocate nothing after the first ones', async () => {
  const own = await create({ maxTokens: 64 });
  /** Bytes of the heap after garbage collection. */
  const heap = (): number => {
    (globalThis as unknown as { gc(): void }).gc();
    return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize;
  };
  const { params } = fixture.figures.adamw;
  let warm = { created: 0, bytes: 0 };
  let early = 0;
  for (let i = 0; i < 300; i++) {
    const prompt = ids(30 + (i % 7), i % 150);
    const tokens = [...prompt, ...(await generate(own, prompt))];
    await own.accumulate([trained(tokens)], sftLoss);
    await own.step({ ...params, lr: 1e-6 });
    if (i === 20) warm = { created: gpu.buffersCreated, bytes: gpu.bytesAllocated };
    if (i === 100) early = heap();
  }
  expect({ created: gpu.buffersCreated, bytes: gpu.bytesAllocated }).toEqual(warm);
  expect(heap() - early).toBeLessThan(0.8 * 2 ** 20);
  own.destroy();
});
