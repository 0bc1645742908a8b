/** The memory plan against what an engine allocates, and against the numbers of real models. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine, type EngineOptions } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { LORA_TARGETS } from '../../src/engine/lora.ts';
import { planMemory } from '../../src/engine/memory-plan.ts';
import { trainingBytesPerToken } from '../../src/engine/training-sizes.ts';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { ModelConfig } from '../../src/engine/types.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';
import { QWEN3_06B } from '../../src/training/pretrained.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await Gpu.create();
});
afterAll(() => gpu.destroy());

const SMALL: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 301,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-6,
  rope_theta: 1e4,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
};
const lora = { rank: 6, scale: 2, targets: LORA_TARGETS };

const FOUR_LAYERS = { num_hidden_layers: 4 };
/** Options with which an engine of four layers computes `layers` of them again. */
const recomputing = (layers: number): EngineOptions => ({
  activationBytes: 64 * trainingBytesPerToken({ ...SMALL, ...FOUR_LAYERS }, layers + 1),
  maxTokens: 64,
  maxModelLen: 64,
});

const CASES: [string, Partial<ModelConfig>, EngineOptions][] = [
  ['all weights', {}, {}],
  ['untied', { tie_word_embeddings: false }, { slots: 3 }],
  ['Qwen2', { model_type: 'qwen2' }, { maxModelLen: 100, slots: 40 }],
  ['Llama', { model_type: 'llama' }, { lora, precision: 'bf16' }],
  ['recomputed', { num_hidden_layers: 4 }, { activationBytes: 1, maxTokens: 64, maxModelLen: 64 }],
  ['partly recomputed', FOUR_LAYERS, recomputing(1)],
  ['LoRA', {}, { lora }],
  ['LoRA over bf16', { num_hidden_layers: 3 }, { lora, precision: 'bf16' }],
  ['LoRA over int8', { hidden_size: 128 }, { lora: { ...lora, targets: ['q_proj', 'up_proj'] }, precision: 'int8' }],
  ['LoRA over int4, in pieces', {}, { lora, precision: 'int4', bindingBytes: 1024 }],
  ['LoRA, recomputed', {}, { lora: { ...lora, rank: 16 }, activationBytes: 1, maxModelLen: 64 }],
  ['in turns, with a KV cache in f16', {}, { lora, takeTurns: true, kvFormat: 'f16', kvTokens: 600 }],
  ['a long context', { vocab_size: 999 }, { lora, maxModelLen: 512, slots: 2 }],
];

test.each(CASES)('%s: the plan has every byte that the engine allocates', async (_, changes, options) => {
  const config = { ...SMALL, ...changes };
  const plan = planMemory({ info: gpu.info, limits: gpu.device.limits }, config, { ...options, reference: options.lora === undefined });
  // Staging buffers belong to the device.
  let staged = 0;
  const make = gpu.buffer.bind(gpu);
  gpu.buffer = (label, bytes, ...rest) => {
    const view = make(label, bytes, ...rest);
    if (label === 'staging') staged += view.size;
    peak = Math.max(peak, gpu.bytesAllocated - before - staged);
    return view;
  };
  const before = gpu.bytesAllocated;
  let peak = 0;
  const engine = await createEngine(gpu, config, randomWeights(config, 1), options);
  const sequence = await engine.sampler.open({ seed: 1, stream: 1 });
  engine.sampler.append(sequence, [1, 2, 3]);
  await engine.sampler.generate(sequence, { maxNewTokens: 2, temperature: 1, stopTokenIds: [] });
  engine.sampler.close(sequence);
  await engine.snapshotReference();
  const batch = [{ tokens: [1, 2, 3, 4], lossMask: [0, 1, 1, 1], weight: 1 }];
  await engine.score(batch);
  await engine.accumulate(batch, sftLoss);
  await engine.step({ lr: 1e-3, beta1: 0.9, beta2: 0.9, eps: 1e-8, weight_decay: 0, grad_clip: 1 });
  gpu.buffer = make;
  // A dispatch has a uniform of 256 bytes. Another program (a second kind of scoring) would add a few.
  expect(Math.abs(plan.total / peak - 1)).toBeLessThan(0.03);
  engine.destroy();
});

test('layers that are computed again give the same gradients, and less memory, whatever their number', async () => {
  const config = { ...SMALL, ...FOUR_LAYERS };
  const batch = Array.from({ length: 3 }, (_, i) => ({
    tokens: Array.from({ length: 20 + i }, (_, t) => (t * 7 + i * 13) % 301),
    lossMask: Array.from({ length: 20 + i }, (_, t) => (t > 3 ? 1 : 0)),
    weight: 0.1,
  }));
  const results = [];
  for (const layers of [0, 1, 2, 3]) {
    const options = recomputing(layers);
    const { training, recomputed_layers } = planMemory({ info: gpu.info, limits: gpu.device.limits }, config, options);
    expect(recomputed_layers).toBe(layers);
    const engine = await createEngine(gpu, config, randomWeights(config, 1), options);
    await engine.accumulate(batch, sftLoss);
    results.push({ training, gradients: await engine.gradients() });
    engine.destroy();
  }
  for (const [i, { training, gradients }] of results.entries()) {
    expect(gradients).toEqual(results[0]!.gradients);
    if (i > 0) expect(training).toBeLessThan(results[i - 1]!.training);
  }
});

const HARDWARE = {
  info: { vendor: '', architecture: '', description: '', software: false, subgroupSize: 32 },
  limits: { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 27 },
};

test('weights of Qwen3-0.6B take what their format says', () => {
  const mebibytes = (precision: 'bf16' | 'int8' | 'int4') =>
    planMemory(HARDWARE, QWEN3_06B.config, { precision, train: false, slots: 1, maxModelLen: 64, maxTokens: 64 }).weights / 2 ** 20;
  expect(mebibytes('bf16')).toBeGreaterThan(1137);
  expect(mebibytes('bf16')).toBeLessThan(1145);
  expect(mebibytes('int8')).toBeLessThan(612);
  expect(mebibytes('int4')).toBeLessThan(330);
});

test.each([
  ['bf16', 2.7],
  ['int8', 2.2],
  ['int4', 2.0],
] as const)('Qwen3-0.6B in %s, r = 16, 8 rollouts of 2,048 tokens with 512 shared: at most %d GiB', (precision, most) => {
  const kvTokens = 512 + 8 * (2048 - 512);
  for (const software of [false, true]) {
    const plan = planMemory({ ...HARDWARE, info: { ...HARDWARE.info, software } }, QWEN3_06B.config, {
      precision,
      lora: { ...lora, rank: 16 },
      slots: 8,
      maxModelLen: 2048,
      kvFormat: 'f16',
      kvTokens,
    });
    expect(plan.total / 2 ** 30).toBeLessThanOrEqual(most);
  }
});

test('a full fine-tune of 37 million parameters fits into bindings of 128 MiB', () => {
  const config = { ...SMALL, vocab_size: 49_152, hidden_size: 512, intermediate_size: 1536, num_hidden_layers: 4, head_dim: 64 };
  const { weights, optimizer, total } = planMemory(HARDWARE, { ...config, num_attention_heads: 8 }, { maxModelLen: 2048, slots: 8 });
  // The embedding has 25.2 million parameters, and a layer has 3 · 512 · 1,536 in its MLP and 2 · 512 · (512 + 128) in its attention.
  const parameters = 49_152 * 512 + 4 * (3 * 512 * 1536 + 2 * 512 * (512 + 128));
  expect(weights).toBeGreaterThan(4 * parameters);
  expect(4 * parameters).toBeGreaterThan(HARDWARE.limits.maxStorageBufferBindingSize);
  expect(optimizer).toBeGreaterThan(3 * 4 * parameters);
  expect(total).toBeLessThan(2 ** 31);
});

test('what the GPU cannot hold is named', () => {
  const words = /kernel "embedding f32" needs 622329856 bytes of buffer "weights" at once; this GPU allows 134217728/;
  expect(() => planMemory(HARDWARE, QWEN3_06B.config, {})).toThrow(words);
  // Four bytes for each of the 2 · 3,072 outputs of gate and up.
  expect(() => planMemory(HARDWARE, QWEN3_06B.config, { precision: 'bf16', maxModelLen: 8192, slots: 1 })).toThrow(
    /sequences of 8192 tokens needs a larger binding .*: lower max_model_len to at most 5440/,
  );
});
