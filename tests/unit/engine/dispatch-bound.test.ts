/** No dispatch of any program outlasts a second on a GPU of 5e11 operations/s, because Windows resets a GPU after 2 s. */
import { describe, expect, test } from 'vitest';
import type { EngineSizes } from '../../../src/engine/engine-allocations.ts';
import { LORA_TARGETS } from '../../../src/engine/lora.ts';
import type { ModelConfig } from '../../../src/engine/types.ts';
import { countingGpu, eachProgram } from '../../support/programs.ts';

const MOST = 5e11;

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

/** Returns the most work of a dispatch of all programs, in full runs, together with the kernel's label. */
async function heaviest(device: (typeof DEVICES)[number][1], config: ModelConfig, sizes: EngineSizes) {
  const found = { work: 0, label: '', programs: 0 };
  const capacity = await eachProgram(countingGpu(device), config, sizes, (program, counts) => {
    found.programs += 1;
    for (const dispatch of program) {
      const [x, y = 1, z = 1] = dispatch.workgroups(counts);
      const work = x * y * z === 0 ? 0 : (dispatch.work?.(counts) ?? x * y * z * 4096);
      if (work > found.work) Object.assign(found, { work, label: dispatch.label });
    }
  });
  return { ...found, capacity };
}

describe.each(DEVICES)('%s', (_, device) => {
  test.each(SHAPES)('%s', async (_name, config, maxModelLen, sizes) => {
    const { work, label, programs, capacity } = await heaviest(device, config, { ...sizes, maxModelLen });
    expect(programs).toBe(5);
    expect(capacity).toBeGreaterThanOrEqual(maxModelLen);
    expect(work, label).toBeLessThanOrEqual(MOST);
  });
});
