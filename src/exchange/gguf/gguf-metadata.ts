/** @file The metadata of a GGUF file as `config.json`. */
import { shown } from '../../base/input-error.ts';
import { GgufError } from './gguf-error.ts';
import type { GgufHeader, GgufValue } from './gguf-file.ts';

/** The architectures, and whether the rows of q and k are stored in pairs. */
const PAIRED: Readonly<Record<string, boolean>> = { llama: true, qwen2: false, qwen3: false };

/** Reads fields of the metadata. Each method throws a GgufError that names the field, its value and what was expected. */
export class Metadata {
  constructor(readonly fields: ReadonlyMap<string, GgufValue>) {}

  #get<T extends GgufValue>(field: string, fallback: T | undefined, expected: string, is: (value: GgufValue) => boolean): T {
    const value = this.fields.get(field);
    if (value === undefined && fallback !== undefined) return fallback;
    if (value === undefined || !is(value)) throw new GgufError(`${field} is ${shown(value)}: expected ${expected}`);
    return value as T;
  }

  number(field: string, fallback?: number): number {
    return this.#get(field, fallback, 'a number', (value) => typeof value === 'number');
  }

  text(field: string, fallback?: string): string {
    return this.#get(field, fallback, 'a text', (value) => typeof value === 'string');
  }

  flag(field: string, fallback: boolean): boolean {
    return this.#get(field, fallback, 'true or false', (value) => typeof value === 'boolean');
  }

  texts(field: string): readonly string[] {
    return this.#get<readonly string[]>(
      field,
      undefined,
      'a list of texts',
      (value) => Array.isArray(value) && value.every((own) => typeof own === 'string'),
    );
  }

  numbers(field: string): readonly number[] {
    return this.#get<readonly number[]>(
      field,
      undefined,
      'a list of numbers',
      (value) => Array.isArray(value) && value.every((own) => typeof own === 'number'),
    );
  }

  /** The field must be absent or have this value, because the decoder has nothing else. */
  only(field: string, expected: GgufValue): void {
    this.#get(field, expected, JSON.stringify(expected), (value) => value === expected);
  }

  /** The field must not ask for an operation, because its meaning is not known. */
  off(field: string): void {
    this.#get(field, 0, '0 or false, as its meaning is not known', (value) => value === 0 || value === false);
  }

  get architecture(): string {
    const known = Object.keys(PAIRED);
    return this.#get<string>('general.architecture', undefined, known.join(', '), (value) => known.includes(value as string));
  }
}

/** The fields of an architecture that are read here, or that have no effect on the result. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['block_count', 'context_length', 'embedding_length', 'feed_forward_length', 'vocab_size', 'tensor_data_layout'],
  ...['head_count', 'head_count_kv', 'key_length', 'value_length', 'layer_norm_rms_epsilon'].map((name) => `attention.${name}`),
  ...['dimension_count', 'freq_base', 'scaling.original_context_length', 'scaling.finetuned'].map((name) => `rope.${name}`),
]);

/** Fields that are known, but must have this value. */
const ONLY = { 'attention.causal': true, 'rope.scaling.type': 'none', 'rope.scaling.factor': 1, 'rope.scaling.attn_factor': 1 };
const isKnown = (field: string) => KNOWN.has(field) || Object.hasOwn(ONLY, field);

/** The number of heads of q and k whose rows are stored in pairs. 0 if they have the order of Hugging Face. */
export function headCounts({ metadata }: GgufHeader): { q: number; k: number } {
  const fields = new Metadata(metadata);
  const { architecture: at } = fields;
  if (!PAIRED[at]) return { q: 0, k: 0 };
  const q = fields.number(`${at}.attention.head_count`);
  return { q, k: fields.number(`${at}.attention.head_count_kv`, q) };
}

/**
 * The fields of `config.json`, without `rope_scaling`. `parseConfig` checks their values.
 * @throws GgufError that names the field that is missing, or that asks for an operation that the decoder does not have
 */
export function configFields({ metadata, tensors }: GgufHeader): Record<string, unknown> {
  const fields = new Metadata(metadata);
  const at = fields.architecture;
  // gguf-split writes 0 into a file that it merged.
  if (fields.number('split.count', 1) !== 0) fields.only('split.count', 1);
  for (const field of metadata.keys()) if (field.startsWith(`${at}.`) && !isKnown(field.slice(at.length + 1))) fields.off(field);
  for (const [field, value] of Object.entries(ONLY)) fields.only(`${at}.${field}`, value);
  const hidden_size = fields.number(`${at}.embedding_length`);
  const num_attention_heads = fields.number(`${at}.attention.head_count`);
  const head_dim = fields.number(`${at}.attention.key_length`, hidden_size / num_attention_heads);
  fields.only(`${at}.attention.value_length`, head_dim);
  fields.only(`${at}.rope.dimension_count`, head_dim);
  const embedding = tensors.get('token_embd.weight');
  if (!embedding) throw new GgufError('tensor token_embd.weight is missing');
  return {
    model_type: at,
    vocab_size: embedding.shape[0],
    hidden_size,
    intermediate_size: fields.number(`${at}.feed_forward_length`),
    num_hidden_layers: fields.number(`${at}.block_count`),
    num_attention_heads,
    num_key_value_heads: fields.number(`${at}.attention.head_count_kv`, num_attention_heads),
    head_dim,
    rms_norm_eps: fields.number(`${at}.attention.layer_norm_rms_epsilon`),
    rope_theta: fields.number(`${at}.rope.freq_base`, 10_000),
    max_position_embeddings: fields.number(`${at}.context_length`),
    tie_word_embeddings: !tensors.has('output.weight'),
    ...(at === 'qwen2' && { attention_bias: tensors.has('blk.0.attn_q.bias') }),
  };
}
