/** Training is allocated for the longest sequence that comes, and grows without a change of any bit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { planMemory } from '../../src/engine/memory-plan.ts';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { TrainSequence } from '../../src/engine/types.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';
import { TINY } from '../support/tiny-config.ts';

const MODEL = { ...TINY, max_position_embeddings: 1024 };
let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

/** A budget of one byte: a micro-batch holds as many tokens as its longest sequence needs, and no more. */
const OPTIONS = { maxModelLen: 1024, slots: 1, activationBytes: 1 };
const weights = randomWeights(MODEL, 5);

const sequence = (length: number, seed: number): TrainSequence => ({
  tokens: Array.from({ length }, (_, t) => (t * 7 + seed * 13) % 37),
  lossMask: Array.from({ length }, (_, t) => (t > 3 ? 1 : 0)),
  weight: 0.1,
});
const SHORT = [sequence(150, 1), sequence(140, 2), sequence(130, 3)];
const LONG = [sequence(150, 1), sequence(600, 4), sequence(300, 5)];

test('short sequences need less memory than the plan, and longer ones get more', async () => {
  const { training } = planMemory({ info: gpu.info, limits: gpu.device.limits }, MODEL, OPTIONS);
  const engine = await createEngine(gpu, MODEL, weights, OPTIONS);
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
    const engine = await createEngine(gpu, MODEL, weights, OPTIONS);
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
  const engine = await createEngine(gpu, MODEL, weights, OPTIONS);
  await expect(engine.score([sequence(1030, 1)])).rejects.toThrow('sequence 0 has 1030 tokens: this engine trains on at most 1025');
  engine.destroy();
});
