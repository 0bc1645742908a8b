/** Generation with the kernels of hardware GPUs: common prompts, chunks of keys, sums in blocks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine } from '../../../src/engine/engine.ts';
import { Gpu } from '../../../src/engine/gpu.ts';
import { MATMUL_VARIANTS, tuningFor } from '../../../src/engine/tuning.ts';
import type { Engine, Generation } from '../../../src/engine/types.ts';
import { loadFixture } from '../../support/fixtures.ts';

let gpu: Gpu;
let engine: Engine;
beforeAll(async () => {
  const { config, weights } = await loadFixture('qwen3-untied');
  const tuning = tuningFor({ software: false, subgroupSize: 8 });
  const { blocks } = MATMUL_VARIANTS.shared;
  // The kernels of these tiles compile in seconds, those of the default tiles in minutes.
  gpu = await Gpu.create(undefined, {
    ...tuning,
    matmul: { ...MATMUL_VARIANTS.register, blocks: { ...blocks!, block: 16, elements: 300 } },
  });
  engine = await createEngine(gpu, config, weights, { maxModelLen: 160, slots: 8, maxTokens: 320 });
});
afterAll(() => gpu.destroy());

const PARAMS = { maxNewTokens: 8, temperature: 1.3, stopTokenIds: [] };
const PROMPT = Array.from({ length: 130 }, (_, i) => (i * 7) % 200);

async function turns(stream: number, ...parts: number[][]): Promise<Generation[]> {
  const { sampler } = engine;
  const sequence = await sampler.open({ seed: 5, stream });
  const generations: Generation[] = [];
  for (const part of parts) {
    sampler.append(sequence, part);
    generations.push(await sampler.generate(sequence, PARAMS));
  }
  sampler.close(sequence);
  return generations;
}

test('tries that share a prompt of two chunks have the same tokens and log-probs as alone, bit by bit', async () => {
  const prompt = (i: number) => (i < 5 ? [...PROMPT, i] : PROMPT.slice(i));
  const together = await Promise.all(Array.from({ length: 7 }, (_, i) => turns(i, prompt(i))));
  for (const i of [0, 4, 6]) expect(await turns(i, prompt(i))).toEqual(together[i]);
  const [{ tokens, logprobs }] = together[4] as [Generation];
  const all = [...prompt(4), ...tokens];
  const sequence = { tokens: all, lossMask: all.map((_, t) => Number(t >= 131)), weight: 1 };
  const scored = (await engine.score([sequence], { temperature: 1.3 })).logprobs[0]!.subarray(131);
  logprobs.forEach((logprob, i) => expect(Math.abs(logprob - scored[i]!)).toBeLessThan(1e-4));
});

test('tokens of a decode run have the bits of a prefill', async () => {
  const [first, second] = (await turns(1, PROMPT, [3, 4, 5])) as [Generation, Generation];
  expect(await turns(1, [...PROMPT, ...first.tokens, 3, 4, 5])).toEqual([second]);
});
