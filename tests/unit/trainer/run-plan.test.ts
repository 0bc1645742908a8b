/** The memory plan of a run: its parts depend on the settings, and each advice saves the memory that it promises. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test, vi } from 'vitest';
import type { ModelFiles } from '../../../src/records/model.ts';
import type { GrpoConfig } from '../../../src/records/run.ts';
import { planRun } from '../../../src/trainer/run-plan.ts';
import { grpoConfig } from '../../../src/training/config.ts';

beforeAll(() => {
  // These constants are those of a browser.
  vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
  vi.stubGlobal('GPUShaderStage', { COMPUTE: 4 });
});

const limits = { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 27 };
const gpu = {
  info: { vendor: '', architecture: '', description: '', software: false, subgroupSize: 32 },
  device: { limits },
} as unknown as Parameters<typeof planRun>[0];
const nano: ModelFiles = Object.fromEntries(
  readdirSync('models/nano-retail').map((name) => [name, new Uint8Array(readFileSync(`models/nano-retail/${name}`))]),
);
const qwen: ModelFiles = {
  'config.json': new TextEncoder().encode(
    JSON.stringify({
      ...{ model_type: 'qwen3', architectures: ['Qwen3ForCausalLM'], vocab_size: 151_936, hidden_size: 1024, intermediate_size: 3072 },
      ...{ num_hidden_layers: 28, num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128, rms_norm_eps: 1e-6 },
      ...{ rope_theta: 1e6, max_position_embeddings: 40_960, tie_word_embeddings: true, hidden_act: 'silu', attention_bias: false },
    }),
  ),
};

const LORA = { lora_rank: '16', precision: 'bf16', max_model_len: '2048', train_batch_size: '1', n: '8' };

test('a nano run has a small plan, with the reference of its KL loss', () => {
  const { plan, problem, advice } = planRun(gpu, nano, grpoConfig('nano', { use_kl_loss: 'true' }));
  expect(problem).toBeUndefined();
  // 266,880 parameters; tensors begin at multiples of 256 bytes.
  expect(plan!.reference).toBeGreaterThanOrEqual(4 * 266_880);
  expect(plan!.reference).toBeLessThan(4 * 266_880 + 2048);
  expect(advice).toEqual([]);
  expect(plan!.take_turns).toBe(false);
  expect(planRun(gpu, nano, grpoConfig('nano', { use_kl_loss: 'false' })).plan!.reference).toBe(0);
});

test('each advice is a plan of its own, smaller than the run', () => {
  const config = grpoConfig('nano', LORA);
  const { plan, advice } = planRun(gpu, qwen, config);
  expect(advice.map(({ settings }) => Object.keys(settings).join())).toEqual(expect.arrayContaining(['precision', 'kv_cache_tokens']));
  for (const { settings, total } of advice) {
    expect(total).toBeLessThan(plan!.total);
    expect(planRun(gpu, qwen, { ...config, ...settings } as GrpoConfig).plan!.total).toBe(total);
  }
});

test('what does not fit is named, and LoRA is the way out', () => {
  const { plan, problem, advice } = planRun(gpu, qwen, grpoConfig('nano', { ...LORA, lora_rank: '0', precision: 'f32' }));
  expect(plan).toBeUndefined();
  expect(problem).toMatch(/needs 622329856 bytes of buffer "weights" at once; this GPU allows 134217728/);
  expect(advice[0]!.settings).toEqual({ lora_rank: 16, precision: 'bf16' });
});

test('conversations that are too long for a binding: the advice is the longest that fits', () => {
  const config = grpoConfig('lora', {});
  const { plan, problem, advice } = planRun(gpu, qwen, config);
  expect(plan).toBeUndefined();
  // 128 MiB hold the 2 · 3,072 outputs of gate and up for 5,461 tokens.
  expect(problem).toMatch(/sequences of 16384 tokens .*: lower max_model_len to at most 5440$/);
  expect(advice.map(({ settings }) => settings)).toEqual([{ max_model_len: 4096 }]);
  const roomy = { ...gpu, device: { limits: { maxBufferSize: 2 ** 32, maxStorageBufferBindingSize: 2 ** 31 } } } as typeof gpu;
  const fitting = planRun(roomy, qwen, config);
  const shorter = fitting.advice.find(({ settings }) => settings.max_model_len !== undefined)!;
  expect(shorter.settings).toEqual({ max_model_len: 8192 });
  expect(shorter.total).toBeLessThan(0.95 * fitting.plan!.total);
  // A turn of 8,192 tokens leaves no shorter limit.
  expect(planRun(gpu, qwen, { ...config, response_length_one_turn: 8192 }).advice).toEqual([]);
});
