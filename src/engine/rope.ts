/** The frequencies of the rotary embeddings (RoPE, Su et al. 2021), and the fields of `config.json` that they depend on. */
import type { ModelConfig, RopeScaling } from '../records/model.ts';

type Rope = Pick<ModelConfig, 'rope_theta' | 'rope_scaling'>;
type Fail = (field: string, value: unknown, expected: string) => never;

const THETA = 10_000;

/** Reads the fields as transformers 5 does. Older files have them at the top level and in `rope_scaling`, newer files in `rope_parameters`. */
export function readRope(raw: Record<string, unknown>, fail: Fail): Rope {
  const object = (field: string): Record<string, unknown> => {
    const value = raw[field] ?? {};
    return typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : fail(field, value, 'an object or null');
  };
  const scaling = object('rope_scaling');
  const [field, from] = Object.keys(scaling).length > 0 ? ['rope_scaling', scaling] : ['rope_parameters', object('rope_parameters')];
  for (const [name, value] of Object.entries(from))
    if (typeof value === 'object' && value !== null) fail(`${field}.${name}`, value, 'a number or a text, the same for all layers');
  if ((from.partial_rotary_factor ?? 1) !== 1)
    fail(`${field}.partial_rotary_factor`, from.partial_rotary_factor, '1 (heads that rotate partly are not supported)');
  const positive = (name: string, value: unknown): number =>
    typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : fail(name, value, 'a positive number');
  const rope_theta =
    from.rope_theta === undefined ? positive('rope_theta', raw.rope_theta ?? THETA) : positive(`${field}.rope_theta`, from.rope_theta);
  const named = from.rope_type === undefined ? 'type' : 'rope_type';
  const type = from[named] ?? 'default';
  if (type === 'default') return { rope_theta };
  if (type !== 'llama3') return fail(`${field}.${named}`, type, '"default" or "llama3"');
  const number = (name: string) => positive(`${field}.${name}`, from[name]);
  const rope_scaling: RopeScaling = {
    rope_type: 'llama3',
    factor: number('factor'),
    low_freq_factor: number('low_freq_factor'),
    high_freq_factor: number('high_freq_factor'),
    original_max_position_embeddings: number('original_max_position_embeddings'),
  };
  if (rope_scaling.high_freq_factor <= rope_scaling.low_freq_factor)
    return fail(`${field}.high_freq_factor`, rope_scaling.high_freq_factor, `more than low_freq_factor (${rope_scaling.low_freq_factor})`);
  return { rope_theta, rope_scaling };
}

/** The frequency of each pair of a head, in radians per position: [head_dim / 2]. `rope_scaling` is that of Llama 3.1. */
export function ropeFrequencies({ head_dim, rope_theta, rope_scaling }: Rope & Pick<ModelConfig, 'head_dim'>): Float64Array {
  return Float64Array.from({ length: head_dim / 2 }, (_, i) => {
    const frequency = rope_theta ** (-(2 * i) / head_dim);
    return rope_scaling ? scaled(frequency, rope_scaling) : frequency;
  });
}

/** As `_compute_llama3_parameters` of transformers: fast frequencies stay, slow ones are divided, and those between are mixed. */
function scaled(
  frequency: number,
  { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: length }: RopeScaling,
): number {
  const turns = (length * frequency) / (2 * Math.PI);
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
  return frequency * (kept + (1 - kept) / factor);
}
