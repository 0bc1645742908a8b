/** Reads `config.json`. If this engine cannot run the decoder, the error names the field that is not supported. */
import { InputError, shown } from '../base/input-error.ts';
import { readRope } from './rope.ts';
import type { ModelConfig } from './types.ts';

class ConfigError extends InputError {
  override name = 'ConfigError';
}

/** What the decoders differ in. All other parts are the same. */
const FAMILIES = {
  qwen3: { architecture: 'Qwen3ForCausalLM', qkNorm: true, qkvBias: false },
  qwen2: { architecture: 'Qwen2ForCausalLM', qkNorm: false, qkvBias: true },
  llama: { architecture: 'LlamaForCausalLM', qkNorm: false, qkvBias: false },
} as const;
const MODEL_TYPES = Object.keys(FAMILIES) as (keyof typeof FAMILIES)[];

/** Whether each head of q and k has an RMS norm. */
export const hasQkNorm = ({ model_type }: ModelConfig): boolean => FAMILIES[model_type].qkNorm;
/** Whether q, k and v have biases. */
export const hasQkvBias = ({ model_type, attention_bias }: ModelConfig): boolean => attention_bias ?? FAMILIES[model_type].qkvBias;

/** Upper limits, above the sizes of every decoder of these families. A file with larger values would freeze the page. */
const MOST = {
  vocab_size: 2 ** 20,
  hidden_size: 2 ** 14,
  intermediate_size: 2 ** 16,
  num_hidden_layers: 256,
  num_attention_heads: 256,
  num_key_value_heads: 256,
  head_dim: 1024,
  max_position_embeddings: 2 ** 22,
} as const;

/**
 * Checks a parsed Hugging Face `config.json`.
 * @throws ConfigError that names the field, its value and the expected value
 */
export function parseConfig(json: unknown): ModelConfig {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new ConfigError(`config.json is ${shown(json)}: expected an object`);
  const raw = json as Record<string, unknown>;
  const fail = (field: string, expected: string): never => {
    throw new ConfigError(`config.json: ${field} is ${shown(raw[field])}: expected ${expected}`);
  };
  const size = (field: keyof typeof MOST, fallback?: number): number => {
    const value = raw[field] ?? fallback;
    if (!Number.isSafeInteger(value) || (value as number) <= 0) return fail(field, 'a positive integer');
    return (value as number) <= MOST[field] ? (value as number) : fail(field, `at most ${MOST[field]}`);
  };
  const positive = (field: string, value: unknown): number =>
    typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : fail(field, 'a positive number');
  /** Checks a field that may be absent. Its value must not ask for an operation that this decoder does not have. */
  const only = (field: string, expected: string, accepts: (value: unknown) => boolean): void => {
    if (raw[field] !== undefined && !accepts(raw[field])) fail(field, expected);
  };

  const model_type =
    MODEL_TYPES.find((name) => name === raw.model_type) ?? fail('model_type', MODEL_TYPES.map((name) => `"${name}"`).join(' or '));
  only('hidden_act', '"silu"', (value) => value === 'silu');
  only('use_sliding_window', 'false (sliding-window attention is not supported)', (value) => value === false);
  const { qkvBias } = FAMILIES[model_type];
  if (qkvBias) only('attention_bias', 'true or false', (value) => typeof value === 'boolean');
  else only('attention_bias', `false for ${model_type}`, (value) => value === false);
  only('mlp_bias', 'false', (value) => value === false);
  only('rope_interleaved', 'false', (value) => value === false);
  only(
    'layer_types',
    'only "full_attention"',
    (value) => value === null || (Array.isArray(value) && value.every((type) => type === 'full_attention')),
  );
  only('partial_rotary_factor', '1 (heads that rotate partly are not supported)', (value) => value === 1 || value === null);
  only('is_causal', 'true', (value) => value === true || value === null);
  const { architecture } = FAMILIES[model_type];
  only(
    'architectures',
    `["${architecture}"]`,
    (value) => value === null || (Array.isArray(value) && value.every((name) => name === architecture)),
  );
  only('quantization_config', 'null (quantized weights are not supported)', (value) => value === null);

  const hidden_size = size('hidden_size');
  const num_attention_heads = size('num_attention_heads');
  const num_key_value_heads = size('num_key_value_heads', num_attention_heads);
  const head_dim = size('head_dim', model_type === 'qwen3' ? 128 : hidden_size / num_attention_heads); // as in transformers
  const rope = readRope(raw, (field, value, expected) => {
    throw new ConfigError(`config.json: ${field} is ${shown(value)}: expected ${expected}`);
  });
  const config: ModelConfig = {
    model_type,
    vocab_size: size('vocab_size'),
    hidden_size,
    intermediate_size: size('intermediate_size'),
    num_hidden_layers: size('num_hidden_layers'),
    num_attention_heads,
    num_key_value_heads,
    head_dim,
    rms_norm_eps: positive('rms_norm_eps', raw.rms_norm_eps ?? 1e-6),
    rope_theta: rope.rope_theta,
    max_position_embeddings: size('max_position_embeddings'),
    tie_word_embeddings:
      raw.tie_word_embeddings === undefined
        ? false
        : typeof raw.tie_word_embeddings === 'boolean'
          ? raw.tie_word_embeddings
          : fail('tie_word_embeddings', 'true or false'),
    ...(qkvBias && raw.attention_bias === false && { attention_bias: false }),
    ...(rope.rope_scaling && { rope_scaling: rope.rope_scaling }),
  };
  const multiples = { hidden_size: 4, intermediate_size: 4, head_dim: 8 } as const;
  for (const [field, multiple] of Object.entries(multiples) as [keyof typeof multiples, number][]) {
    if (config[field] % multiple !== 0)
      throw new ConfigError(`config.json: ${field} is ${config[field]}: expected a multiple of ${multiple}`);
  }
  if (num_attention_heads % num_key_value_heads !== 0)
    fail('num_key_value_heads', `a divisor of num_attention_heads (${num_attention_heads})`);
  return config;
}

/** A complete `config.json` that Hugging Face transformers loads. */
export function configJson(config: ModelConfig): Record<string, unknown> {
  return {
    architectures: [FAMILIES[config.model_type].architecture],
    ...config,
    hidden_act: 'silu',
    attention_dropout: 0,
    ...(hasQkvBias(config) ? {} : { attention_bias: false }),
    rope_scaling: config.rope_scaling ?? null,
    sliding_window: null,
    use_sliding_window: false,
    initializer_range: 0.02,
    use_cache: true,
    torch_dtype: 'float32',
  };
}
