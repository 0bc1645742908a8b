/** Training is allocated for the longest sequence that comes, and grows without a change of any bit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { planMemory } from '../../src/engine/memory-plan.ts';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { ModelConfig, TrainSequence } from '../../src/engine/types.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';

const TINY: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 37,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 1024,
  tie_word_embeddings: true,
};
let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

/** A budget of one byte: a micro-batch holds as many tokens as its longest sequence needs, and no more. */
const OPTIONS = { maxModelLen: 1024, slots: 1, activationBytes: 1 };
const weights = randomWeights(TINY, 5);

const sequence = (length: number, seed: number): TrainSequence => ({
  tokens: Array.from({ length }, (_, t) => (t * 7 + seed * 13) % 37),
  lossMask: Array.from({ length }, (_, t) => (t > 3 ? 1 : 0)),
  weight: 0.1,
});
const SHORT = [sequence(150, 1), sequence(140, 2), sequence(130, 3)];
const LONG = [sequence(150, 1), sequence(600, 4), sequence(300, 5)];

test('short sequences need less memory than the plan, and longer ones get more', async () => {
  const { training } = planMemory({ info: gpu.info, limits: gpu.device.limits }, TINY, OPTIONS);
  const engine = await createEngine(gpu, TINY, weights, OPTIONS);
  await engine.accumulate(SHORT, sftLoss);
  const short = gpu.bytesAllocated;
  await engine.accumulate(LONG, sftLoss);
  const long = gpu.bytesAllocated;
  // 256 and 768 of 1,024 tokens. Scratch for parts of sums does not depend on the length.
  expect(long - short).toBeGreaterThan(0.4 * training);
  expect(long - short).toBeLessThan(0.6 * training);
  await engine.accumulate(SHORT, sftLoss);
  expect(gpu.bytesAllocated).toBe(long);
  engine.destroy();
});

test('earlier and concurrent runs with other lengths change no bit', async () => {
  const gradients = async (before: readonly TrainSequence[][], own: readonly TrainSequence[]) => {
    const engine = await createEngine(gpu, TINY, weights, OPTIONS);
    for (const batch of before) await engine.accumulate(batch, sftLoss);
    engine.zeroGradients();
    const [scores] = await Promise.all([engine.accumulate(own, sftLoss), engine.score(LONG), engine.score(SHORT)]);
    const result = { logprobs: scores.logprobs, gradients: await engine.gradients() };
    engine.destroy();
    return result;
  };
  expect(await gradients([LONG], SHORT)).toEqual(await gradients([], SHORT));
  expect(await gradients([SHORT, LONG, SHORT], LONG)).toEqual(await gradients([], LONG));
});

test('a sequence that is longer than the engine allows is refused', async () => {
  const engine = await createEngine(gpu, TINY, weights, OPTIONS);
  await expect(engine.score([sequence(1030, 1)])).rejects.toThrow('sequence 0 has 1030 tokens: this engine trains on at most 1025');
  engine.destroy();
});
