/** The log-probs of the bundled models against float64 (tests/reference/exactness.py). They must be at least as exact as PyTorch's. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { MATMUL_VARIANTS, type Tuning, tuningFor } from '../../src/engine/tuning.ts';
import { fetchBundledModel } from '../../src/exchange/bundled-models.ts';
import { loadModel } from '../../src/exchange/model-folder.ts';
import { runsOnLavapipeToo } from '../support/lavapipe.ts';
import figures from '../reference/fixtures/exactness.json' with { type: 'json' };

/** PyTorch's float32 errs by 4e-6 to 1.2e-5 (root mean square), and at most by 4.6e-5 to 2.4e-4. */
const MOST = { rms: 6e-6, worst: 1e-4 };

const hardware = tuningFor({ software: false, subgroupSize: 0 });
const TUNINGS: Record<string, Tuning | undefined> = {
  'this device': undefined,
  // The tiles of `register` compile faster on CPUs than those of hardware GPUs, and give the same bits.
  'a hardware GPU': { ...hardware, matmul: { ...MATMUL_VARIANTS.register, blocks: MATMUL_VARIANTS.shared.blocks! } },
};

describe.each(Object.keys(TUNINGS))('with the kernels of %s', (tuning) => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await Gpu.create(undefined, TUNINGS[tuning]);
  });
  afterAll(() => gpu.destroy());

  test.each(Object.entries(figures))('%s', async (name, { sequences, transformers }) => {
    if (TUNINGS[tuning] && runsOnLavapipeToo(gpu)) return;
    const { config, weights } = loadModel(await fetchBundledModel(name));
    const engine = await createEngine(gpu, config, weights, { maxModelLen: 400, slots: 1, maxTokens: 400 });
    const { logprobs } = await engine.score(sequences.map(({ tokens }) => ({ tokens, lossMask: tokens.map(() => 1), weight: 1 })));
    engine.destroy();
    const errors = sequences.flatMap((sequence, s) => sequence.logprobs.map((logprob, t) => Math.abs(logprobs[s]![t + 1]! - logprob)));
    const rms = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length);
    expect(rms).toBeLessThan(Math.min(MOST.rms, transformers.float32.rms));
    expect(Math.max(...errors)).toBeLessThan(MOST.worst);
  });
});
