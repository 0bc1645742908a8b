import { describe, expect, test } from 'vitest';
import { configJson, parseConfig } from '../../../src/engine/config.ts';
import { modelParameters } from '../../../src/engine/parameters.ts';
import { ropeFrequencies } from '../../../src/engine/rope.ts';

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

/** The fields that matter of unsloth/Llama-3.2-1B's config.json. */
const LLAMA = {
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  mlp_bias: false,
  model_type: 'llama',
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_scaling: { factor: 32, high_freq_factor: 4, low_freq_factor: 1, original_max_position_embeddings: 8192, rope_type: 'llama3' },
  rope_theta: 500000,
  tie_word_embeddings: true,
  vocab_size: 128256,
};

describe('config.json', () => {
  test('of Qwen3 and Qwen2.5', () => {
    expect(parseConfig(QWEN3)).toMatchObject({ model_type: 'qwen3', head_dim: 128, num_key_value_heads: 8, tie_word_embeddings: true });
    expect(parseConfig(QWEN2)).toMatchObject({ model_type: 'qwen2', head_dim: 64, rope_theta: 1e6 });
  });

  test('of Llama 3.2, with its scaled rotary embeddings in the older and the newer place', () => {
    const config = parseConfig(LLAMA);
    expect(config).toMatchObject({ model_type: 'llama', num_key_value_heads: 8, rope_theta: 5e5, rope_scaling: LLAMA.rope_scaling });
    const { rope_scaling, rope_theta, ...rest } = LLAMA;
    expect(parseConfig({ ...rest, rope_parameters: { ...rope_scaling, rope_theta } })).toEqual(config);
    expect(parseConfig({ ...rest, rope_theta, rope_scaling: { ...rope_scaling, rope_type: undefined, type: 'llama3' } })).toEqual(config);
    expect(parseConfig({ ...rest, rope_theta, rope_scaling: null })).not.toHaveProperty('rope_scaling');
  });

  test('the tensors follow from what the family has', () => {
    const tensors = (json: object) => modelParameters(parseConfig(json)).map(({ name }) => name);
    const [norm, bias] = ['model.layers.0.self_attn.q_norm.weight', 'model.layers.0.self_attn.q_proj.bias'];
    expect(tensors(QWEN3)).toEqual(expect.arrayContaining([norm]));
    expect(tensors(QWEN3)).not.toContain(bias);
    expect(tensors(QWEN2)).toContain(bias);
    expect(tensors(QWEN2)).not.toContain(norm);
    for (const json of [LLAMA, { ...QWEN2, attention_bias: false }]) {
      expect(tensors(json)).not.toContain(bias);
      expect(tensors(json)).not.toContain(norm);
    }
  });

  test('rope_theta in the newer place', () => {
    const { rope_theta: _, ...rest } = QWEN3;
    expect(parseConfig({ ...rest, rope_parameters: { rope_theta: 5e6, rope_type: 'default' } }).rope_theta).toBe(5e6);
    expect(() => parseConfig({ ...rest, rope_parameters: { rope_theta: 5e6, rope_type: 'yarn' } })).toThrow(
      /rope_parameters.rope_type is "yarn"/,
    );
  });

  test('rotary embeddings in both places, as AutoConfig of transformers 5.24 reads them', () => {
    const { rope_scaling, rope_theta: _, ...rest } = LLAMA;
    const plain = { rope_type: 'default', rope_theta: 5e5 };
    const read = (json: object) => {
      const { rope_theta, rope_scaling } = parseConfig({ ...rest, ...json });
      return [rope_theta, rope_scaling?.factor];
    };
    expect(read({ rope_parameters: plain, rope_scaling, rope_theta: 2e4 })).toEqual([2e4, 32]);
    expect(read({ rope_parameters: { rope_theta: 5e5 }, rope_scaling })).toEqual([1e4, 32]);
    expect(read({ rope_parameters: plain, rope_theta: 1e6 })).toEqual([5e5, undefined]);
    expect(read({ rope_parameters: rope_scaling, rope_theta: 5e5 })).toEqual([5e5, 32]);
    expect(read({ rope_scaling: { ...rope_scaling, rope_theta: 7e5 } })).toEqual([7e5, 32]);
  });

  test('Qwen3 has heads of 128 values if the file does not say it', () => {
    const { head_dim: _, ...rest } = QWEN3;
    expect(parseConfig({ ...rest, hidden_size: 1024 })).toMatchObject({ hidden_size: 1024, num_attention_heads: 16, head_dim: 128 });
  });

  test.each([
    [{ partial_rotary_factor: 0.5 }, /partial_rotary_factor is 0\.5: expected 1/],
    [
      { rope_parameters: { rope_type: 'default', partial_rotary_factor: 0.5 } },
      /rope_parameters\.partial_rotary_factor is 0\.5: expected 1/,
    ],
    [{ rope_parameters: { full_attention: { rope_theta: 1e6 } } }, /rope_parameters\.full_attention is .*: expected a number or a text/],
    [{ is_causal: false }, /is_causal is false: expected true/],
    [{ architectures: ['Qwen3ForSequenceClassification'] }, /architectures is .*: expected \["Qwen3ForCausalLM"\]/],
    [{ model_type: 'gemma3' }, /model_type is "gemma3": expected "qwen3" or "qwen2" or "llama"/],
    [{ model_type: 'llama', attention_bias: true }, /attention_bias is true: expected false for llama/],
    [{ model_type: 'llama', mlp_bias: true }, /mlp_bias is true: expected false/],
    [{ model_type: 'llama', rope_interleaved: true }, /rope_interleaved is true: expected false/],
    [{ model_type: 'qwen2', attention_bias: 'no' }, /attention_bias is "no": expected true or false/],
    [{ hidden_size: undefined }, /hidden_size is missing: expected a positive integer/],
    [{ hidden_size: 1022 }, /hidden_size is 1022: expected a multiple of 4/],
    [{ intermediate_size: '3072' }, /intermediate_size is "3072"/],
    [{ head_dim: 12 }, /head_dim is 12: expected a multiple of 8/],
    [{ num_key_value_heads: 5 }, /num_key_value_heads is 5: expected a divisor of num_attention_heads \(16\)/],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 } }, /rope_scaling\.rope_type is "yarn": expected "default" or "llama3"/],
    [{ rope_scaling: 'llama3' }, /rope_scaling is "llama3": expected an object or null/],
    [{ rope_scaling: { ...LLAMA.rope_scaling, factor: 0 } }, /rope_scaling\.factor is 0: expected a positive number/],
    [
      { rope_scaling: { ...LLAMA.rope_scaling, high_freq_factor: 1 } },
      /rope_scaling\.high_freq_factor is 1: expected more than low_freq_factor \(1\)/,
    ],
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
    for (const json of [QWEN3, QWEN2, { ...QWEN2, attention_bias: false }, LLAMA]) {
      const config = parseConfig(json);
      expect(parseConfig(JSON.parse(JSON.stringify(configJson(config))))).toEqual(config);
    }
    expect(configJson(parseConfig(LLAMA))).toMatchObject({ architectures: ['LlamaForCausalLM'], rope_scaling: LLAMA.rope_scaling });
  });
});

test('scaled rotary frequencies of Llama 3.2', () => {
  const frequencies = ropeFrequencies(parseConfig(LLAMA));
  // _compute_llama3_parameters of transformers 4.57, in float64. Pairs 0 to 14 stay, 15 to 17 are mixed, and the rest is divided by 32.
  const expected = {
    0: 1,
    1: 0.6636012376960885,
    14: 0.0032114459947525913,
    15: 0.0012905479282092638,
    16: 0.00042955679655936815,
    17: 9.70828780262767e-5,
    18: 1.9461638184831125e-5,
    31: 9.418306725434909e-8,
  };
  for (const [pair, value] of Object.entries(expected)) expect(frequencies[Number(pair)]! / value).toBeCloseTo(1, 12);
});
