/** Trained weights in several buffers, as on a GPU that binds little at once, train like weights in one buffer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine, type EngineOptions } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { LORA_TARGETS } from '../../src/engine/lora.ts';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { TensorMap } from '../../src/engine/types.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';
import { TINY } from '../support/tiny-config.ts';

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

const BATCH = [{ tokens: [1, 2, 3, 4, 5, 6], lossMask: [0, 1, 1, 1, 1, 1], weight: 0.2 }];
const ADAMW = { lr: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.1, grad_clip: 0.5 };

async function trained(options: EngineOptions) {
  let buffers = 0;
  const make = gpu.buffer.bind(gpu);
  gpu.buffer = (label, ...rest) => {
    if (label === 'adam m') buffers += 1;
    return make(label, ...rest);
  };
  const engine = await createEngine(gpu, TINY, randomWeights(TINY, 5), { maxModelLen: 32, slots: 1, maxTokens: 64, ...options });
  await engine.snapshotReference();
  await engine.accumulate(BATCH, sftLoss);
  const gradients = await engine.gradients();
  const { gradNorm } = await engine.step(ADAMW);
  await engine.accumulate(BATCH, sftLoss);
  await engine.step(ADAMW);
  const weights = await engine.weights();
  const { m, v } = await engine.optimizerState();
  const reference = await engine.score(BATCH, { weights: 'reference' });
  // What was read back is loaded into the same places.
  engine.loadWeights(weights);
  const again = await engine.weights();
  engine.destroy();
  gpu.buffer = make;
  return { buffers, gradients, gradNorm, weights, again, m, v, reference: reference.logprobs };
}

/** The largest difference, relative to the largest value of the tensor. */
const difference = (got: TensorMap, expected: TensorMap): number =>
  Math.max(
    ...[...expected].map(([name, { data }]) => {
      const largest = data.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-30);
      return data.reduce((most, x, i) => Math.max(most, Math.abs(x - got.get(name)!.data[i]!)), 0) / largest;
    }),
  );

test.each([
  ['all weights', {}],
  ['LoRA adapters', { lora: { rank: 4, scale: 2, targets: LORA_TARGETS } }],
] as const)('%s', async (_, options) => {
  const whole = await trained(options);
  // Some groups are larger than this, and have a buffer of their own.
  const split = await trained({ ...options, bindingBytes: 2816 });
  expect(whole.buffers).toBe(1);
  expect(split.buffers).toBeGreaterThan(2);
  // Frozen matrices are cut too, and their input gradients are sums over the pieces.
  if ('lora' in options) expect(difference(split.gradients, whole.gradients)).toBeLessThan(1e-5);
  else expect(split.gradients).toEqual(whole.gradients);
  expect(split.reference).toEqual(whole.reference);
  // The norm's terms are added in another order.
  expect(Math.abs(split.gradNorm / whole.gradNorm - 1)).toBeLessThan(1e-5);
  expect(difference(split.m, whole.m)).toBeLessThan(1e-5);
  expect(difference(split.v, whole.v)).toBeLessThan(1e-5);
  expect(difference(split.weights, whole.weights)).toBeLessThan(1e-4);
  expect(split.again).toEqual(split.weights);
});
