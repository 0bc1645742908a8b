/** Batched generation: the tokens of a sequence do not depend on other sequences, and the log-probs agree with scoring. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu, GpuOutOfMemoryError } from '../../src/engine/gpu.ts';
import type { Engine, Generation, SamplingParams } from '../../src/engine/types.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';
import { type Fixture, loadFixture } from '../support/fixtures.ts';

let gpu: Gpu;
let fixture: Fixture;
let engine: Engine;
const MAX_MODEL_LEN = 100;
const PARAMS: SamplingParams = { maxNewTokens: 12, temperature: 1.3, stopTokenIds: [] };

beforeAll(async () => {
  gpu = await Gpu.create();
  fixture = await loadFixture('qwen3-untied');
  engine = await createEngine(gpu, fixture.config, fixture.weights, { maxModelLen: MAX_MODEL_LEN, slots: 32, maxTokens: 256 });
});
afterAll(() => gpu.destroy());

const prompt = (i: number): number[] => [...fixture.figures.sequences[0]!.tokens.slice(0, 18 + (i % 5)), 17 + i];

async function complete(tokens: number[], stream: number, params: SamplingParams = PARAMS, seed = 5): Promise<Generation> {
  const sequence = await engine.sampler.open({ seed, stream });
  try {
    engine.sampler.append(sequence, tokens);
    return await engine.sampler.generate(sequence, params);
  } finally {
    engine.sampler.close(sequence);
  }
}

/** Log-probs of the generated tokens from scoring. */
async function scored(before: number[], { tokens }: Generation, temperature: number): Promise<number[]> {
  const all = [...before, ...tokens];
  const { logprobs } = await engine.score([{ tokens: all, lossMask: all.map((_, t) => Number(t >= before.length)), weight: 1 }], {
    temperature,
  });
  return Array.from(logprobs[0]!.subarray(before.length));
}

const largest = (a: readonly number[], b: readonly number[]): number => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

describe('sampler', () => {
  test('each of 32 parallel sequences has the same tokens and log-probs as alone, bit by bit', async () => {
    const together = await Promise.all(Array.from({ length: 32 }, (_, i) => complete(prompt(i), i)));
    const again = await Promise.all(Array.from({ length: 32 }, (_, i) => complete(prompt(i), i)));
    expect(again).toEqual(together);
    for (const i of [0, 7, 31]) expect(await complete(prompt(i), i)).toEqual(together[i]);
    expect(new Set(together.map(({ tokens }) => tokens.join())).size).toBe(32);
    expect(await complete(prompt(0), 0, PARAMS, 6)).not.toEqual(together[0]);
  });

  test('log-probs equal those of scoring: with a temperature, truncated and greedy', async () => {
    for (const params of [PARAMS, { ...PARAMS, topK: 5 }, { ...PARAMS, topP: 0.6 }, { ...PARAMS, temperature: 0 }]) {
      const generation = await complete(prompt(3), 3, params);
      expect(generation.tokens).toHaveLength(12);
      expect(largest(generation.logprobs, await scored(prompt(3), generation, params.temperature || 1))).toBeLessThan(1e-4);
    }
  });

  test('top-k 1 is greedy', async () => {
    const greedy = await complete(prompt(2), 2, { ...PARAMS, temperature: 0 });
    expect((await complete(prompt(2), 9, { ...PARAMS, topK: 1 })).tokens).toEqual(greedy.tokens);
  });

  test('a conversation of several turns equals the same tokens in one prompt', async () => {
    const { sampler } = engine;
    const sequence = await sampler.open({ seed: 8, stream: 1 });
    sampler.append(sequence, prompt(1));
    const first = await sampler.generate(sequence, PARAMS);
    sampler.append(sequence, [3, 4, 5]);
    const second = await sampler.generate(sequence, PARAMS);
    expect(sequence.length).toBe(prompt(1).length + 12 + 3 + 12);
    sampler.close(sequence);
    const history = [...prompt(1), ...first.tokens, 3, 4, 5];
    expect(await complete(history, 1, PARAMS, 8)).toEqual(second);
    expect(largest(second.logprobs, await scored(history, second, PARAMS.temperature))).toBeLessThan(1e-4);
  });

  test('a common prefix is computed once', async () => {
    const shared = Array.from({ length: 70 }, (_, i) => (i * 7) % 200);
    const before = engine.tokensPrefilled;
    const four = await Promise.all([0, 1, 2, 3].map((stream) => complete([...shared, 1], stream)));
    // 71 tokens: 64 of them fill whole pages of 16.
    expect(engine.tokensPrefilled - before).toBe(71 + 3 * 7);
    expect(largest(four[3]!.logprobs, await scored([...shared, 1], four[3]!, PARAMS.temperature))).toBeLessThan(1e-4);
  });

  test('ends at a stop token, at maxNewTokens and at the end of the context', async () => {
    const free = await complete(prompt(4), 4);
    const stop = free.tokens[5]!;
    const cut = free.tokens.indexOf(stop) + 1;
    expect(await complete(prompt(4), 4, { ...PARAMS, stopTokenIds: [stop] })).toEqual({
      tokens: free.tokens.slice(0, cut),
      logprobs: free.logprobs.slice(0, cut),
      finishReason: 'stop',
    });
    expect(free.finishReason).toBe('length');
    const long = Array.from({ length: MAX_MODEL_LEN - 5 }, (_, i) => i);
    const full = await complete(long, 0, { ...PARAMS, maxNewTokens: 50 });
    expect([full.tokens.length, full.finishReason]).toEqual([5, 'context_full']);
    expect(largest(full.logprobs, await scored(long, full, PARAMS.temperature))).toBeLessThan(1e-4);
    expect(
      await complete(
        Array.from({ length: MAX_MODEL_LEN }, () => 1),
        0,
      ),
    ).toEqual({ tokens: [], logprobs: [], finishReason: 'context_full' });
  });

  test('sequences without a slot wait for a free slot', async () => {
    const many = await Promise.all(Array.from({ length: 40 }, (_, i) => complete(prompt(i), i, { ...PARAMS, maxNewTokens: 3 })));
    expect(many[39]).toEqual(await complete(prompt(39), 39, { ...PARAMS, maxNewTokens: 3 }));
  });

  test('with few pages, sequences lose theirs and get the same tokens and log-probs', async () => {
    const conversation = async (of: Engine, i: number): Promise<Generation[]> => {
      const sequence = await of.sampler.open({ seed: 5, stream: i });
      of.sampler.append(sequence, prompt(i));
      const first = await of.sampler.generate(sequence, { ...PARAMS, maxNewTokens: 20 + (i % 3) });
      await new Promise((resolve) => setTimeout(resolve, 20 * (i % 4))); // the tool
      of.sampler.append(sequence, [3, 4, i]);
      const second = await of.sampler.generate(sequence, { ...PARAMS, maxNewTokens: 30 });
      of.sampler.close(sequence);
      return [first, second];
    };
    const all = (of: Engine) => Promise.all(Array.from({ length: 12 }, (_, i) => conversation(of, i)));
    const sizes = { maxModelLen: MAX_MODEL_LEN, slots: 12, maxTokens: 256 };
    const plenty = await createEngine(gpu, fixture.config, fixture.weights, sizes);
    const expected = await all(plenty);
    const computed = plenty.tokensPrefilled;
    plenty.destroy();
    // A conversation has 74 to 78 tokens, or 5 pages.
    for (const kvTokens of [MAX_MODEL_LEN, 300]) {
      const few = await createEngine(gpu, fixture.config, fixture.weights, { ...sizes, kvTokens });
      expect(await all(few)).toEqual(expected);
      expect(few.tokensPrefilled).toBeGreaterThan(computed);
      few.destroy();
    }
    await expect(createEngine(gpu, fixture.config, fixture.weights, { ...sizes, kvTokens: 99 })).rejects.toThrow(
      'engine kvTokens is 99: expected at least maxModelLen (100)',
    );
  });

  test('generation and training in turns: the same numbers, and never the buffers of both', async () => {
    const batch = [0, 1].map((i) => ({ tokens: prompt(i), lossMask: prompt(i).map(Number), weight: 1 }));
    const work = async (of: Engine) => {
      const sequence = await of.sampler.open({ seed: 5, stream: 2 });
      of.sampler.append(sequence, prompt(2));
      const first = await of.sampler.generate(sequence, PARAMS);
      const second = of.sampler.generate(sequence, { ...PARAMS, maxNewTokens: 40 });
      const scores = of.score(batch);
      const trained = await of.accumulate(batch, sftLoss);
      const gradients = await of.gradients();
      const results = { first, second: await second, scores: await scores, trained, gradients };
      of.sampler.close(sequence);
      return results;
    };
    const allocated = { peak: 0, before: gpu.bytesAllocated };
    const buffer = gpu.buffer.bind(gpu);
    vi.spyOn(gpu, 'buffer').mockImplementation((...args) => {
      const view = buffer(...args);
      allocated.peak = Math.max(allocated.peak, gpu.bytesAllocated - allocated.before);
      return view;
    });
    const run = async (takeTurns: boolean) => {
      allocated.peak = 0;
      const own = await createEngine(gpu, fixture.config, fixture.weights, {
        maxModelLen: MAX_MODEL_LEN,
        slots: 16,
        maxTokens: 128,
        takeTurns,
      });
      const results = await work(own);
      own.destroy();
      return { results, peak: allocated.peak };
    };
    const together = await run(false);
    const inTurns = await run(true);
    vi.restoreAllMocks();
    expect(inTurns.results).toEqual(together.results);
    expect(inTurns.peak).toBeLessThan(together.peak - 2 ** 20);
  });

  test('an abort rejects its own call only', async () => {
    const { sampler } = engine;
    const alone = await complete(prompt(6), 6, { ...PARAMS, maxNewTokens: 40 });
    const abort = new AbortController();
    const doomed = await sampler.open({ seed: 5, stream: 99 });
    sampler.append(doomed, prompt(5));
    const failing = sampler.generate(doomed, { ...PARAMS, maxNewTokens: 70 }, abort.signal);
    const other = complete(prompt(6), 6, { ...PARAMS, maxNewTokens: 40 });
    abort.abort(new Error('enough'));
    await expect(failing).rejects.toThrow('enough');
    sampler.close(doomed);
    expect(await other).toEqual(alone);
  });

  test('after new weights, an open sequence computes its past tokens again', async () => {
    const { sampler } = engine;
    const sequence = await sampler.open({ seed: 5, stream: 1 });
    sampler.append(sequence, prompt(1));
    const before = await sampler.generate(sequence, PARAMS);
    await engine.accumulate([{ tokens: prompt(1), lossMask: prompt(1).map(() => 1), weight: 1 }], sftLoss);
    await engine.step({ ...fixture.figures.adamw.params, lr: 0.02 });
    const after = await sampler.generate(sequence, PARAMS);
    expect(largest(after.logprobs, await scored([...prompt(1), ...before.tokens], after, PARAMS.temperature))).toBeLessThan(1e-4);
    sampler.close(sequence);
    engine.loadWeights(fixture.weights);
    expect(await complete(prompt(1), 1)).toEqual(before);
  });

  test('weights that give NaN logits: the call fails with the name of the sequence', async () => {
    const broken = new Map(fixture.weights);
    const { shape, data } = broken.get('model.norm.weight')!;
    broken.set('model.norm.weight', { shape, data: data.map(() => NaN) });
    engine.loadWeights(broken);
    const { sampler } = engine;
    const sequence = await sampler.open({ seed: 5, stream: 1 });
    sampler.append(sequence, prompt(1));
    const tokens = prompt(1).length;
    await expect(sampler.generate(sequence, PARAMS)).rejects.toThrow(
      `sequence ${sequence.id}: the logits after ${tokens} tokens are NaN or infinite`,
    );
    await expect(sampler.generate(sequence, { ...PARAMS, topK: 5 })).rejects.toThrow(/NaN or infinite/);
    engine.loadWeights(fixture.weights);
    expect((await sampler.generate(sequence, PARAMS)).tokens).toEqual((await complete(prompt(1), 1)).tokens);
    sampler.close(sequence);
  });

  test('refuses invalid arguments by name', async () => {
    const { sampler } = engine;
    const sequence = await sampler.open({ seed: 0, stream: 0 });
    await expect(sampler.generate(sequence, PARAMS)).rejects.toThrow(/empty/);
    expect(() => sampler.append(sequence, [1, 270])).toThrow(/token 1 to append is 270/);
    sampler.append(sequence, [1]);
    await expect(sampler.generate(sequence, { ...PARAMS, topP: 0 })).rejects.toThrow(/topP is 0/);
    await expect(sampler.generate(sequence, { ...PARAMS, temperature: NaN })).rejects.toThrow(/temperature is NaN/);
    const busy = sampler.generate(sequence, PARAMS);
    await expect(sampler.generate(sequence, PARAMS)).rejects.toThrow(/generating already/);
    expect(() => sampler.append(sequence, [1])).toThrow(/is generating/);
    await busy;
    sampler.close(sequence);
    expect(() => sampler.append(sequence, [1])).toThrow(/not open/);
  });
});

describe('a separate engine', () => {
  const sizes = { maxModelLen: MAX_MODEL_LEN, slots: 2, maxTokens: 128 };
  const greedy = async (own: Engine): Promise<number[]> => {
    const sequence = await own.sampler.open({ seed: 1, stream: 1 });
    try {
      own.sampler.append(sequence, prompt(0));
      return (await own.sampler.generate(sequence, { ...PARAMS, temperature: 0 })).tokens;
    } finally {
      own.sampler.close(sequence);
    }
  };

  test.each([
    ['sampler logits', greedy],
    ['logits', (own: Engine) => own.score([{ tokens: [1, 2, 3], lossMask: [0, 1, 1], weight: 1 }])],
    ['adam v', (own: Engine) => own.accumulate([{ tokens: [1, 2, 3], lossMask: [0, 1, 1], weight: 1 }], sftLoss)],
    ['adam v', (own: Engine) => own.loadOptimizerState({ step: 1, m: fixture.weights, v: fixture.weights })],
    ['reference weights', (own: Engine) => own.snapshotReference()],
  ])('frees its buffers when there is no memory for "%s", and allocates them again at the next call', async (label, ask) => {
    const own = await createEngine(gpu, fixture.config, fixture.weights, sizes);
    const before = gpu.bytesAllocated;
    const create = gpu.buffer.bind(gpu);
    const full = vi.spyOn(gpu, 'buffer').mockImplementation((name, ...rest) => {
      if (name === label) throw new GpuOutOfMemoryError('full');
      return create(name, ...rest);
    });
    await expect(ask(own)).rejects.toThrow('full');
    expect(gpu.bytesAllocated).toBe(before);
    full.mockRestore();
    await ask(own);
    expect(gpu.bytesAllocated).toBeGreaterThan(before);
    own.destroy();
  });

  test('refuses work after it is closed, and the device stays usable', async () => {
    const own = await createEngine(gpu, fixture.config, fixture.weights, sizes);
    const generating = greedy(own);
    await greedy(own);
    const late = greedy(own);
    own.destroy();
    await generating;
    await expect(late).rejects.toThrow('this engine was closed');
    await expect(own.weights()).rejects.toThrow('this engine was closed');
    await expect(greedy(engine)).resolves.toHaveLength(12);
  });
});
