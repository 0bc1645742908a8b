/** What a run needs, before it starts. Expected times are computed by hand from the shape of SmolLM2-135M. */
import { beforeAll, expect, test, vi } from 'vitest';
import { PRETRAINED, QWEN3_06B, SMOLLM2_135M } from '../../../src/training/pretrained.ts';
import { estimateTimes, runNeeds } from '../../../src/trainer/estimates.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { PRESETS } from '../../../src/training/presets.ts';

beforeAll(() => {
  // These constants are those of a browser.
  vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
  vi.stubGlobal('GPUShaderStage', { COMPUTE: 4 });
});

const gpu = (binding: number) =>
  ({
    info: { vendor: '', architecture: '', description: '', software: false, subgroupSize: 32 },
    device: { limits: { maxBufferSize: 2 ** 32, maxStorageBufferBindingSize: binding } },
  }) as unknown as Parameters<typeof runNeeds>[0];
/** So fast in all but the matmuls that only these count. */
const MATMULS = { operations: 1e12, bytes: 1e30, dispatch: 0 };
const { config: SMOLLM2 } = SMOLLM2_135M;
const PRESET = PRESETS.smollm2!;

test('the update of a step: four operations for each weight and token, and more for the adapters, at 0.6 of the matmul', () => {
  const { step, gen, ref } = estimateTimes(SMOLLM2, PRESET.config, MATMULS);
  // 32 conversations of 213 tokens after a shared prompt of 116; the head sees the 90 sampled ones.
  const all = 116 + 32 * 213;
  const layers = 30 * (2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536);
  const matmuls = all * 4 * layers + 32 * 90 * 4 * 576 * 49_152;
  const adapters = all * 6 * 30 * 16 * (2 * (576 + 576) + 2 * (576 + 192) + 3 * (576 + 1536));
  const attention = 3 * 4 * 30 * 576 * (116 + 213 / 2) * all;
  const update = (matmuls + adapters) / 0.6e12 + attention / 0.2e12;
  expect(ref).toBe(0);
  expect((step - gen) / update).toBeCloseTo(1, 1);
});

test('twice as many conversations at half the speed take about four times as long', () => {
  const once = estimateTimes(SMOLLM2, PRESET.config, MATMULS);
  const twice = estimateTimes(SMOLLM2, { ...PRESET.config, train_batch_size: 8 }, { ...MATMULS, operations: 5e11 });
  expect(twice.step / once.step).toBeGreaterThan(3.6);
  expect(twice.step / once.step).toBeLessThan(4.2);
});

test('a cold start samples nothing, and small dispatches take their time', () => {
  const cold = grpoConfig('smollm2', PRESET.coldStart);
  expect(estimateTimes(SMOLLM2, cold, MATMULS)).toMatchObject({ gen: 0, ref: 0, evaluation: 0 });
  const slow = estimateTimes(SMOLLM2, PRESET.config, { ...MATMULS, dispatch: 1e-3 });
  // 135 decode steps of more than 300 dispatches each.
  expect(slow.gen).toBeGreaterThan(135 * 0.3);
});

test('what a listed model needs with its preset; where it does not fit, the reason', () => {
  const needs = runNeeds(gpu(2 ** 31), SMOLLM2, PRESET.config, MATMULS);
  // Weights in bf16 and the f32 moments of the adapters are the least.
  expect(needs.memory).toBeGreaterThan(2 * 134_515_008 + 3 * 4 * 4_884_480);
  // Ten steps, and one evaluation of three times as many conversations.
  expect(needs.seconds!.run).toBeCloseTo(10 * needs.seconds!.step + 3 * needs.seconds!.gen);
  const small = runNeeds(gpu(2 ** 27), QWEN3_06B.config, PRESETS.lora!.config, MATMULS);
  expect(small).toEqual({ problem: expect.stringMatching(/lower max_model_len to at most \d+$/), seconds: null });
});

test('each listed model has a preset, and each preset with a download is in the list', () => {
  for (const { preset } of PRETRAINED) expect(Object.keys(PRESETS)).toContain(preset);
  const downloads = Object.values(PRESETS).flatMap(({ model }) => (model.includes('/') ? [model] : []));
  expect(PRETRAINED.map(({ name }) => name)).toEqual(expect.arrayContaining(downloads));
  // GRPO must not train on the tasks of the cold start.
  for (const { config, coldStart } of Object.values(PRESETS)) if (coldStart) expect(coldStart.seed).not.toBe(config.seed);
});
