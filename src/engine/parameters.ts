/**
 * The layout of all weights in one flat buffer. Gradients and moments have the same layout: AdamW is one dispatch, and the
 * reference is one copy. Tensors that a kernel reads as one tensor (q, k, v; gate, up) are neighbours.
 */
import { subview, type View } from './gpu.ts';
import type { ModelConfig, TensorMap } from './types.ts';

/** Floats. Views start at multiples of 256 bytes, WebGPU's alignment of storage bindings. */
const ALIGN = 64;

export interface Parameter {
  /** Hugging Face name. */
  name: string;
  shape: number[];
  /** In floats. */
  offset: number;
  size: number;
}

/** The range of tensors that a kernel reads as one: [start, number of floats]. */
type Range = readonly [number, number];
interface LayerRanges {
  inputNorm: Range;
  qkv: Range;
  qkvBias?: Range;
  qNorm?: Range;
  kNorm?: Range;
  o: Range;
  postNorm: Range;
  gateUp: Range;
  down: Range;
}
export type LayerViews = { [name in keyof LayerRanges]: View };
export interface WeightViews {
  embed: View;
  layers: LayerViews[];
  norm: View;
  /** The same as `embed` if the embeddings are tied. */
  head: View;
}

export class ParameterLayout {
  readonly parameters: Parameter[] = [];
  /** The ranges of tensors that a kernel reads as one, and whether weight decay applies. `offset` is a multiple of 64. */
  readonly segments: { offset: number; size: number; decay: boolean }[] = [];
  /** Floats of the whole buffer; a multiple of 64. */
  readonly size: number;
  readonly #embed: Range;
  readonly #layers: LayerRanges[] = [];
  readonly #norm: Range;
  readonly #head: Range;

  constructor(readonly config: ModelConfig) {
    const { hidden_size: h, intermediate_size: i, head_dim: d, vocab_size: v } = config;
    const q = config.num_attention_heads * d;
    const kv = config.num_key_value_heads * d;
    let end = 0;
    const place = (...tensors: [name: string, ...shape: number[]][]): Range => {
      const start = end;
      for (const [name, ...shape] of tensors) {
        const size = shape.reduce((a, b) => a * b, 1);
        this.parameters.push({ name, shape, offset: end, size });
        end += size;
      }
      const floats = end - start;
      // Weight decay does not apply to norms and biases.
      this.segments.push({ offset: start, size: floats, decay: tensors.every(([, ...shape]) => shape.length > 1) });
      end = Math.ceil(end / ALIGN) * ALIGN;
      return [start, floats];
    };
    this.#embed = place(['model.embed_tokens.weight', v, h]);
    for (let layer = 0; layer < config.num_hidden_layers; layer++) {
      const at = (name: string): string => `model.layers.${layer}.${name}`;
      this.#layers.push({
        inputNorm: place([at('input_layernorm.weight'), h]),
        qkv: place([at('self_attn.q_proj.weight'), q, h], [at('self_attn.k_proj.weight'), kv, h], [at('self_attn.v_proj.weight'), kv, h]),
        ...(config.model_type === 'qwen2'
          ? { qkvBias: place([at('self_attn.q_proj.bias'), q], [at('self_attn.k_proj.bias'), kv], [at('self_attn.v_proj.bias'), kv]) }
          : { qNorm: place([at('self_attn.q_norm.weight'), d]), kNorm: place([at('self_attn.k_norm.weight'), d]) }),
        o: place([at('self_attn.o_proj.weight'), h, q]),
        postNorm: place([at('post_attention_layernorm.weight'), h]),
        gateUp: place([at('mlp.gate_proj.weight'), i, h], [at('mlp.up_proj.weight'), i, h]),
        down: place([at('mlp.down_proj.weight'), h, i]),
      });
    }
    this.#norm = place(['model.norm.weight', h]);
    this.#head = config.tie_word_embeddings ? this.#embed : place(['lm_head.weight', v, h]);
    this.size = end;
  }

  /** The tensors of a buffer with this layout. */
  views(flat: View): WeightViews {
    const view = ([start, floats]: Range): View => subview(flat, start * 4, Math.ceil(floats / ALIGN) * ALIGN * 4);
    const all = <T extends object>(ranges: T): { [name in keyof T]: View } =>
      Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, view(range as Range)])) as { [name in keyof T]: View };
    return { embed: view(this.#embed), layers: this.#layers.map((ranges) => all(ranges)), norm: view(this.#norm), head: view(this.#head) };
  }

  /**
   * The flat form of named tensors.
   * @throws Error that names all tensors that are missing, unknown or have a wrong shape
   */
  flatten(tensors: TensorMap): Float32Array<ArrayBuffer> {
    const problems = tensorProblems(this, tensors);
    if (problems.length > 0) throw new Error(problems.join('; '));
    const flat = new Float32Array(this.size);
    for (const { name, offset } of this.parameters) flat.set(tensors.get(name)!.data, offset);
    return flat;
  }

  /** The named tensors of a flat array. They are views, not copies. */
  unflatten(flat: Float32Array): TensorMap {
    return new Map(this.parameters.map(({ name, shape, offset, size }) => [name, { shape, data: flat.subarray(offset, offset + size) }]));
  }
}

/** The problems of a set of tensors for a model. A tied model may have its own `lm_head.weight`. */
export function tensorProblems({ config, parameters }: ParameterLayout, tensors: TensorMap): string[] {
  const problems: string[] = [];
  for (const { name, shape, size } of parameters) {
    const tensor = tensors.get(name);
    if (!tensor) problems.push(`tensor ${name} is missing: expected shape [${shape}]`);
    else if (tensor.shape.length !== shape.length || tensor.shape.some((n, i) => n !== shape[i]) || tensor.data.length !== size) {
      problems.push(`tensor ${name} has shape [${tensor.shape}]: expected [${shape}]`);
    }
  }
  const known = new Set(parameters.map(({ name }) => name));
  if (config.tie_word_embeddings) known.add('lm_head.weight');
  for (const name of tensors.keys())
    if (!known.has(name))
      problems.push(`tensor ${name} is not part of a ${config.model_type} model with ${config.num_hidden_layers} layers`);
  return problems;
}

/** Initial weights as in Hugging Face: normal(0, 0.02) for matrices, 1 for norms, 0 for biases. The same seed gives the same weights. */
export function randomWeights(config: ModelConfig, seed: number): TensorMap {
  const uniform = mulberry32(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const weights: TensorMap = new Map();
  for (const { name, shape, size } of new ParameterLayout(config).parameters) {
    const data = new Float32Array(size);
    if (name.endsWith('norm.weight')) data.fill(1);
    else if (shape.length > 1) for (let i = 0; i < size; i++) data[i] = 0.02 * normal();
    weights.set(name, { shape, data });
  }
  return weights;
}

/** A small uniform generator on [0, 1): it makes initial weights reproducible. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296;
  };
}
