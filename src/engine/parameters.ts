/** The tensors of a model, and the layout of trained tensors in flat buffers. */
import { InputError } from '../base/input-error.ts';
import { hasQkNorm, hasQkvBias } from './config.ts';
import { subview, type View } from './gpu.ts';
import type { ParameterSegment } from './kernels/adamw.ts';
import type { ModelConfig, TensorMap } from './types.ts';

/** Views start at multiples of 64 floats, which are 256 bytes, WebGPU's alignment of storage bindings. */
const ALIGN = 64;

/** Tensors that a kernel reads as one matrix: they follow each other in memory, stacked by rows. They have Hugging Face's names. */
export type TensorGroup = readonly { readonly name: string; readonly shape: readonly number[] }[];

export interface LayerTensors {
  inputNorm: TensorGroup;
  qkv: TensorGroup;
  qkvBias?: TensorGroup;
  qNorm?: TensorGroup;
  kNorm?: TensorGroup;
  o: TensorGroup;
  postNorm: TensorGroup;
  gateUp: TensorGroup;
  down: TensorGroup;
}
export interface ModelTensors {
  embed: TensorGroup;
  layers: LayerTensors[];
  norm: TensorGroup;
  /** Absent if the embeddings are tied. */
  head?: TensorGroup;
}

const group = (...tensors: [name: string, ...shape: number[]][]): TensorGroup => tensors.map(([name, ...shape]) => ({ name, shape }));

export function modelTensors(config: ModelConfig): ModelTensors {
  const { hidden_size: h, intermediate_size: i, head_dim: d, vocab_size: v } = config;
  const q = config.num_attention_heads * d;
  const kv = config.num_key_value_heads * d;
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer): LayerTensors => {
    const at = (name: string): string => `model.layers.${layer}.${name}`;
    return {
      inputNorm: group([at('input_layernorm.weight'), h]),
      qkv: group([at('self_attn.q_proj.weight'), q, h], [at('self_attn.k_proj.weight'), kv, h], [at('self_attn.v_proj.weight'), kv, h]),
      ...(hasQkvBias(config) && {
        qkvBias: group([at('self_attn.q_proj.bias'), q], [at('self_attn.k_proj.bias'), kv], [at('self_attn.v_proj.bias'), kv]),
      }),
      ...(hasQkNorm(config) && {
        qNorm: group([at('self_attn.q_norm.weight'), d]),
        kNorm: group([at('self_attn.k_norm.weight'), d]),
      }),
      o: group([at('self_attn.o_proj.weight'), h, q]),
      postNorm: group([at('post_attention_layernorm.weight'), h]),
      gateUp: group([at('mlp.gate_proj.weight'), i, h], [at('mlp.up_proj.weight'), i, h]),
      down: group([at('mlp.down_proj.weight'), h, i]),
    };
  });
  return {
    embed: group(['model.embed_tokens.weight', v, h]),
    layers,
    norm: group(['model.norm.weight', h]),
    ...(!config.tie_word_embeddings && { head: group(['lm_head.weight', v, h]) }),
  };
}

/** All groups of a model, in the order in which a flat buffer holds them. */
export const groupsOf = ({ embed, layers, norm, head }: ModelTensors): TensorGroup[] => [
  embed,
  ...layers.flatMap((layer) => Object.values(layer) as TensorGroup[]),
  norm,
  ...(head ? [head] : []),
];

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
/** Rows and columns of a group. A group of vectors has one column. */
export function groupSize(tensors: TensorGroup): { rows: number; columns: number; vector: boolean } {
  const columns = tensors[0]!.shape[1];
  return { rows: tensors.reduce((sum, { shape }) => sum + shape[0]!, 0), columns: columns ?? 1, vector: columns === undefined };
}

export interface Parameter {
  name: string;
  shape: number[];
  /** Offset in all parts together, in floats. */
  offset: number;
  size: number;
}

/**
 * The layout of groups in flat buffers, which follow each other. Weights, gradients and moments have the same layout, so AdamW needs
 * one dispatch for each buffer.
 */
export class ParameterLayout {
  readonly parameters: Parameter[] = [];
  /** Floats of all buffers; a multiple of 64. */
  readonly size: number;
  /** The floats of each buffer, and the groups in it. Offsets and sizes of buffers, and offsets of groups in their buffer, are multiples of 64. */
  readonly parts: { offset: number; size: number; segments: ParameterSegment[] }[] = [];
  readonly #ranges = new Map<TensorGroup, { part: number; offset: number; size: number }>();

  /**
   * @param clusters groups that must lie in the same buffer
   * @param most bytes of one buffer. A cluster that is larger has a buffer of its own.
   */
  constructor(clusters: readonly (readonly TensorGroup[])[], most = Infinity) {
    let end = 0;
    for (const cluster of clusters) {
      const begin = end;
      const ranges: [TensorGroup, { offset: number; size: number }][] = [];
      for (const tensors of cluster) {
        const offset = end;
        for (const { name, shape } of tensors) {
          const size = sizeOf(shape);
          this.parameters.push({ name, shape: [...shape], offset: end, size });
          end += size;
        }
        ranges.push([tensors, { offset, size: end - offset }]);
        end = Math.ceil(end / ALIGN) * ALIGN;
      }
      let part = this.parts.at(-1);
      if (!part || (end - part.offset) * 4 > most) this.parts.push((part = { offset: begin, size: 0, segments: [] }));
      part.size = end - part.offset;
      for (const [tensors, { offset, size }] of ranges) {
        const range = { offset: offset - part.offset, size };
        // Weight decay does not apply to norms and biases.
        part.segments.push({ ...range, decay: !groupSize(tensors).vector });
        this.#ranges.set(tensors, { ...range, part: this.parts.length - 1 });
      }
    }
    this.size = end;
  }

  /** The place of the group. `flats` are the buffers of all parts. */
  view(flats: readonly View[], tensors: TensorGroup): View {
    const { part, offset, size } = this.#ranges.get(tensors)!;
    return subview(flats[part]!, offset * 4, Math.ceil(size / ALIGN) * ALIGN * 4);
  }

  /**
   * Copies named tensors into one flat array.
   * @throws Error that names all tensors that are missing, unknown or have a wrong shape
   */
  flatten(tensors: TensorMap): Float32Array<ArrayBuffer> {
    const problems = tensorProblems(this.parameters, tensors);
    if (problems.length > 0) throw new InputError(problems.join('; '));
    const flat = new Float32Array(this.size);
    for (const { name, offset } of this.parameters) flat.set(tensors.get(name)!.data, offset);
    return flat;
  }

  /** The named tensors of a flat array. They are views, not copies. */
  unflatten(flat: Float32Array): TensorMap {
    return new Map(this.parameters.map(({ name, shape, offset, size }) => [name, { shape, data: flat.subarray(offset, offset + size) }]));
  }
}

/** The names, shapes and sizes of all tensors of a model. */
export const modelParameters = (config: ModelConfig): { name: string; shape: number[]; size: number }[] =>
  groupsOf(modelTensors(config)).flatMap((tensors) => tensors.map(({ name, shape }) => ({ name, shape: [...shape], size: sizeOf(shape) })));

/**
 * Compares tensors with the expected ones. Returns a message for each tensor that is missing, unknown or of a wrong shape.
 * @param ignored names that may occur, but need not
 */
export function tensorProblems(
  expected: readonly { name: string; shape: readonly number[] }[],
  tensors: ReadonlyMap<string, { shape: readonly number[]; data?: Float32Array }>,
  ignored: readonly string[] = [],
): string[] {
  const problems: string[] = [];
  for (const { name, shape } of expected) {
    const tensor = tensors.get(name);
    if (!tensor) problems.push(`tensor ${name} is missing: expected shape [${shape}]`);
    else if (
      tensor.shape.length !== shape.length ||
      tensor.shape.some((n, i) => n !== shape[i]) ||
      (tensor.data && tensor.data.length !== sizeOf(shape))
    ) {
      problems.push(`tensor ${name} has shape [${tensor.shape}]: expected [${shape}]`);
    }
  }
  const known = new Set([...expected.map(({ name }) => name), ...ignored]);
  for (const name of tensors.keys()) if (!known.has(name)) problems.push(`tensor ${name} is not part of this model`);
  return problems;
}

/**
 * The tensors that a file may have, but that are not read: `lm_head.weight` of a model with tied embeddings, and the rotary frequencies of
 * older files, which transformers also computes from `config.json`.
 */
export const ignoredTensors = ({ tie_word_embeddings, num_hidden_layers }: ModelConfig): string[] => [
  ...(tie_word_embeddings ? ['lm_head.weight'] : []),
  ...Array.from({ length: num_hidden_layers }, (_, layer) => `model.layers.${layer}.self_attn.rotary_emb.inv_freq`),
];

/** Initial weights as in Hugging Face: normal(0, 0.02) for matrices, 1 for norms, 0 for biases. The same seed gives the same weights. */
export function randomWeights(config: ModelConfig, seed: number): TensorMap {
  const uniform = mulberry32(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const weights: TensorMap = new Map();
  for (const { name, shape, size } of modelParameters(config)) {
    const data = new Float32Array(size);
    if (name.endsWith('norm.weight')) data.fill(1);
    else if (shape.length > 1) for (let i = 0; i < size; i++) data[i] = 0.02 * normal();
    weights.set(name, { shape, data });
  }
  return weights;
}

/** A small generator of uniform numbers in [0, 1). The same seed gives the same numbers, so initial weights are reproducible. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296;
  };
}
