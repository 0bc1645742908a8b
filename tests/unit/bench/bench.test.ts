import { expect, test } from 'vitest';
import { modelParameters } from '../../../src/engine/parameters.ts';
import {
  type BenchModel,
  benchModels,
  chosenWorkloads,
  decodeWork,
  grpoLength,
  grpoPrefill,
  grpoWork,
  prefillWork,
  trainWork,
  WORKLOADS,
} from '../../../src/bench/workloads.ts';
import type { BenchResult } from '../../../src/bench/report.ts';
import { roofline, rooflineSvg } from '../../../src/bench/roofline.ts';

const [nano, , qwen] = benchModels(false) as [BenchModel, BenchModel, BenchModel];

test('the work of nano equals the count of the comparison with other libraries', () => {
  // 4 layers of 4·128² + 3·128·384, a head of 2,048·128; causal attention is half of 4·4·128 operations a pair, three times.
  const weights = 4 * (4 * 128 ** 2 + 3 * 128 * 384) + 2048 * 128;
  const tokens = 8 * 256;
  const attention = 3 * 4 * 4 * 128 * (256 / 2) * tokens;
  expect(trainWork(nano)).toMatchObject({ tokens, flops: 6 * weights * tokens + attention });
  // The norms are read and trained too: two of size 128 and two of size 32 in each layer, and one of size 128 at the end.
  const parameters = weights + 4 * (2 * 128 + 2 * 32) + 128;
  expect(trainWork(nano).bytes).toBe(2 * 4 * parameters + 32 * parameters);
});

test('the work of Qwen3-0.6B: adapters have weight gradients, frozen matrices have not', () => {
  const layer = 1024 * 2048 * 2 + 1024 * 1024 * 2 + 3 * 1024 * 3072;
  const head = 151_936 * 1024;
  const adapter = 16 * (2 * (1024 + 2048) + 2 * (1024 + 1024) + 3 * (1024 + 3072));
  const pair = 4 * 28 * 16 * 128;
  expect(trainWork(qwen).flops / 2048).toBe(4 * (28 * layer + head) + 6 * 28 * adapter + (3 * pair * 512) / 2);
  expect(prefillWork(qwen).flops).toBe(2 * 512 * 28 * layer + 2 * head + (pair * 512 ** 2) / 2);
  // Each step reads the bf16 weights once, for any batch size.
  const [one, many] = [decodeWork(qwen, 1), decodeWork(qwen, 64)];
  expect(one.bytes / 32).toBeGreaterThan(2 * (28 * layer + head));
  expect(one.bytes / 32).toBeLessThan(1.02 * 2 * (28 * layer + head));
  expect(many.flops).toBe(64 * one.flops);
  expect(many.bytes).toBeLessThan(1.5 * one.bytes);
});

test('the work of a GRPO step: every token forward three times and once more with its gradient, the shared prompt once', () => {
  const step = { tasks: 8, rollouts: 8, prompt: 3000, turns: 9, reads: 152, writes: 42, waitMs: 1000, kvTokens: 32_768 };
  const layer = 1024 * 2048 * 2 + 1024 * 1024 * 2 + 3 * 1024 * 3072;
  const adapter = 28 * 16 * (2 * (1024 + 2048) + 2 * (1024 + 1024) + 3 * (1024 + 3072));
  // A conversation has 9 · 194 = 1,746 tokens after the prompt.
  const [sampled, all] = [64 * 378, 3000 + 64 * 1746];
  expect(grpoLength(step)).toBe(4746);
  // Before each turn 152 tokens; before all but the first also the last sample, which decoding has not put into the cache.
  expect(grpoPrefill(step)).toBe(3000 + 64 * (9 * 152 + 8));
  const { tokens, computed, flops, bytes } = grpoWork(qwen, step);
  expect([tokens, computed]).toEqual([sampled, 3 * all]);
  // Attention: three times forward, and twice that in the backward pass.
  const attention = 5 * 4 * 28 * 16 * 128 * (3000 ** 2 / 2 + 64 * 1746 * (3000 + 873));
  expect(flops).toBe(all * (8 * 28 * layer + 6 * adapter) + 8 * sampled * 151_936 * 1024 + attention);
  // Each step of decoding reads the weights once.
  expect(bytes / (378 * 2 * (28 * layer + 151_936 * 1024))).toBeCloseTo(1, 1);
});

test('smollm2-135m has the size of SmolLM2-135M', () => {
  const { config } = benchModels(true).find(({ name }) => name === 'smollm2-135m')!;
  // The sum over the 272 tensors of the published file.
  expect(modelParameters(config).map(({ size }) => size)).toHaveLength(272);
  expect(modelParameters(config).reduce((sum, { size }) => sum + size, 0)).toBe(134_515_008);
});

test('workloads are chosen by name, in the order of the bench', () => {
  expect(chosenWorkloads([])).toEqual(WORKLOADS);
  expect(chosenWorkloads(['decode-nano-8', 'train-nano'])).toEqual(['train-nano', 'decode-nano-8']);
  expect(() => chosenWorkloads(['train-mega'])).toThrow(/^workload "train-mega": expected names among train-nano, prefill-nano, /);
});

test('the roofline: the roof bends where both ceilings meet, and a point at its ceiling lies on it', () => {
  const at = (flops: number, gflops: number) => ({ name: `w ${flops}`, flops, bytes: 1, gflops }) as BenchResult;
  const report = {
    ceilings: { matmul: [], gflops: 1000, gb_per_s: 10 },
    workloads: [at(1, 10), at(100, 1000), at(1000, 1000), at(1000, 1)],
  };
  const { roof, points, frame, x, y } = roofline(report);
  const corners = roof.split(' ').map((corner) => corner.split(',').map(Number));
  expect(corners).toHaveLength(3);
  expect([points[0]!.x, points[0]!.y]).toEqual(corners[0]);
  expect([points[1]!.x, points[1]!.y]).toEqual(corners[1]);
  expect(points[2]!.y).toBe(corners[1]![1]);
  expect(points[3]!.y).toBe(frame.bottom);
  expect([x[0]!.text, x.at(-1)!.text, y[0]!.text, y.at(-1)!.text]).toEqual(['1', '10000', '1', '10000']);
  for (const point of points) {
    expect(point.x).toBeGreaterThanOrEqual(frame.left);
    expect(point.x).toBeLessThanOrEqual(frame.right);
  }
  expect(rooflineSvg(report).match(/<circle/g)).toHaveLength(4);
});
