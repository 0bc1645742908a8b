/** No dispatch of any program outlasts a second on a GPU of 5e11 operations/s, because Windows resets a GPU after 2 s. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { engineAllocations, type EngineSizes } from '../../../src/engine/engine-allocations.ts';
import { Gpu } from '../../../src/engine/gpu.ts';
import type { Dispatch } from '../../../src/engine/kernel.ts';
import { LORA_TARGETS } from '../../../src/engine/lora.ts';
import type { Counts } from '../../../src/engine/rows.ts';
import type { ModelConfig } from '../../../src/engine/types.ts';

const MOST = 5e11;

beforeAll(() => {
  // These constants are those of a browser.
  vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
  vi.stubGlobal('GPUShaderStage', { COMPUTE: 4 });
});

const model = (
  vocab_size: number,
  [hidden_size, intermediate_size, num_hidden_layers]: [number, number, number],
  [num_attention_heads, num_key_value_heads, head_dim]: [number, number, number],
  more: Partial<ModelConfig> = {},
): ModelConfig => ({
  ...{ model_type: 'qwen3', vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads },
  ...{ head_dim, rms_norm_eps: 1e-6, rope_theta: 1e6, max_position_embeddings: 32_768, tie_word_embeddings: true },
  ...more,
});
const lora = { rank: 16, scale: 2, targets: LORA_TARGETS };
const adapters: EngineSizes = { lora, precision: 'bf16', kvFormat: 'f16', slots: 64, kvTokens: 32_768 };

/** The shape of a model, and the longest sequence of a preset. The sizes of published models are those of their config.json. */
const SHAPES: [name: string, config: ModelConfig, maxModelLen: number, sizes: EngineSizes][] = [
  ['glimpse', model(879, [48, 128, 2], [2, 1, 32]), 384, { slots: 64 }],
  ['nano', model(1280, [64, 192, 3], [4, 2, 32]), 2048, { slots: 64 }],
  ['SmolLM2-135M', model(49_152, [576, 1536, 30], [9, 3, 64], { model_type: 'qwen2' }), 8192, adapters],
  ['Qwen2.5-0.5B', model(151_936, [896, 4864, 24], [14, 2, 64], { model_type: 'qwen2' }), 16_384, adapters],
  ['Qwen3-0.6B', model(151_936, [1024, 3072, 28], [16, 8, 128]), 16_384, adapters],
];
const DEVICES = [
  ['hardware with subgroups', { software: false, subgroupSize: 32 }],
  ['hardware without subgroups', { software: false, subgroupSize: 0 }],
  ['software', { software: true, subgroupSize: 8 }],
] as const;

/** Builds every program, and returns the most work of a dispatch, in full runs, together with the kernel's label. */
async function heaviest(device: (typeof DEVICES)[number][1], config: ModelConfig, sizes: EngineSizes) {
  const limits = { maxBufferSize: 2 ** 32, maxStorageBufferBindingSize: 2 ** 32 };
  const gpu = Gpu.counting({ vendor: '', architecture: '', description: '', ...device }, limits);
  const encoder = { copyBufferToBuffer: () => {}, finish: () => ({}) };
  Object.assign(gpu.device, { createCommandEncoder: () => encoder });
  Object.assign(gpu.device.queue, { submit: () => {} });
  const found = { work: 0, label: '', programs: 0 };
  gpu.run = (program: readonly Dispatch[], counts: Counts) => {
    found.programs += 1;
    for (const dispatch of program) {
      const [x, y = 1, z = 1] = dispatch.workgroups(counts);
      const work = x * y * z === 0 ? 0 : (dispatch.work?.(counts) ?? x * y * z * 4096);
      if (work > found.work) Object.assign(found, { work, label: dispatch.label });
    }
  };
  gpu.read = async () => new ArrayBuffer(16);
  const allocations = engineAllocations(gpu, config, sizes);
  const { maxModelLen } = allocations;
  const built = allocations.model();
  const decode = allocations.decode(built);
  const params = { seed: 1, stream: 1, temperature: 1, topP: 1, topK: 0 } as never;
  decode.prefill(
    Array.from({ length: decode.sizes.prefillTokens }, (_, i) => ({ token: 1, position: maxModelLen - 1 - (i % 2), slot: 0 })),
    [],
  );
  decode.decode(
    Array.from({ length: decode.sizes.slots }, (_, slot) => ({ token: 1, position: maxModelLen - 1, slot, params })),
    decode.sizes.steps,
  );
  const program = allocations.training(built, allocations.trainingSizes(maxModelLen));
  const counts = { tokens: program.sizes.capacity, rows: program.sizes.capacity };
  gpu.run(program.scoring(built.model.views, 8), counts);
  const { trained } = allocations.plan;
  const optimizer = allocations.optimizer(trained!, built.model.arena!);
  gpu.run(
    program.training(built.model.views, allocations.plan.gradientViews(optimizer.gradients), { name: 'any', wgsl: '', settings: [] }),
    counts,
  );
  await optimizer.step({ lr: 1, beta1: 0.9, beta2: 0.9, eps: 1e-8, weight_decay: 0, grad_clip: 1 });
  return { ...found, capacity: program.sizes.capacity };
}

describe.each(DEVICES)('%s', (_, device) => {
  test.each(SHAPES)('%s', async (_name, config, maxModelLen, sizes) => {
    const { work, label, programs, capacity } = await heaviest(device, config, { ...sizes, maxModelLen });
    expect(programs).toBe(5);
    expect(capacity).toBeGreaterThanOrEqual(maxModelLen);
    expect(work, label).toBeLessThanOrEqual(MOST);
  });
});
