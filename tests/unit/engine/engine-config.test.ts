import { describe, expect, test } from 'vitest';
import { configJson, parseConfig } from '../../../src/engine/config.ts';

/** The fields that matter of Qwen/Qwen3-0.6B's config.json. */
const QWEN3 = {
  architectures: ['Qwen3ForCausalLM'],
  attention_bias: false,
  head_dim: 128,
  hidden_act: 'silu',
  hidden_size: 1024,
  intermediate_size: 3072,
  max_position_embeddings: 40960,
  max_window_layers: 28,
  model_type: 'qwen3',
  num_attention_heads: 16,
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: null,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
};
/** Fields of Qwen/Qwen2.5-0.5B's config.json: no head_dim, and an unused sliding window. */
const QWEN2 = {
  hidden_act: 'silu',
  hidden_size: 896,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  model_type: 'qwen2',
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000,
  sliding_window: 32768,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
};

describe('config.json', () => {
  test('of Qwen3 and Qwen2.5', () => {
    expect(parseConfig(QWEN3)).toMatchObject({ model_type: 'qwen3', head_dim: 128, num_key_value_heads: 8, tie_word_embeddings: true });
    expect(parseConfig(QWEN2)).toMatchObject({ model_type: 'qwen2', head_dim: 64, rope_theta: 1e6 });
  });

  test('rope_theta in the newer place', () => {
    const { rope_theta: _, ...rest } = QWEN3;
    expect(parseConfig({ ...rest, rope_parameters: { rope_theta: 5e6, rope_type: 'default' } }).rope_theta).toBe(5e6);
    expect(() => parseConfig({ ...rest, rope_parameters: { rope_theta: 5e6, rope_type: 'yarn' } })).toThrow(
      /rope_parameters.rope_type is "yarn"/,
    );
  });

  test.each([
    [{ model_type: 'llama' }, /model_type is "llama": expected "qwen3" or "qwen2"/],
    [{ hidden_size: undefined }, /hidden_size is missing: expected a positive integer/],
    [{ hidden_size: 1022 }, /hidden_size is 1022: expected a multiple of 4/],
    [{ intermediate_size: '3072' }, /intermediate_size is "3072"/],
    [{ head_dim: 12 }, /head_dim is 12: expected a multiple of 8/],
    [{ num_key_value_heads: 5 }, /num_key_value_heads is 5: expected a divisor of num_attention_heads \(16\)/],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 } }, /rope_scaling is .*expected null/],
    [{ use_sliding_window: true }, /use_sliding_window is true: expected false/],
    [{ layer_types: ['full_attention', 'sliding_attention'] }, /layer_types/],
    [{ hidden_act: 'gelu' }, /hidden_act is "gelu": expected "silu"/],
    [{ attention_bias: true }, /attention_bias is true: expected false for qwen3/],
    [{ rope_theta: -1 }, /rope_theta is -1: expected a positive number/],
    [{ tie_word_embeddings: 'yes' }, /tie_word_embeddings is "yes"/],
    [{ quantization_config: { bits: 4 } }, /quantization_config/],
  ])('refuses %j', (change, message) => {
    expect(() => parseConfig({ ...QWEN3, ...change })).toThrow(message);
  });

  test('refuses a value that is not an object', () => {
    expect(() => parseConfig(null)).toThrow(/null: expected an object/);
  });

  test('a written config is read back the same', () => {
    const config = parseConfig(QWEN2);
    expect(parseConfig(JSON.parse(JSON.stringify(configJson(config))))).toEqual(config);
  });
});
