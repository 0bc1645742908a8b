/**
 * All weights in one flat buffer. Gradients and moments have the same layout, so that AdamW is one dispatch and a
 * reference policy is one copy. Tensors that a kernel reads as one (q, k, v; gate, up) lie side by side.
 */
import { subview, type View } from './gpu.ts';
import type { ModelConfig, TensorMap } from './types.ts';

/** Views start at multiples of 256 bytes: WebGPU's alignment of storage bindings. */
const ALIGN = 64;

export interface Parameter {
  /** Hugging Face name. */
  name: string;
  shape: number[];
  /** In floats. */
  offset: number;
  size: number;
}

/** Places of the tensors that are bound together: [start, floats] */
type Place = readonly [number, number];
interface LayerPlaces {
  inputNorm: Place;
  qkv: Place;
  qkvBias?: Place;
  qNorm?: Place;
  kNorm?: Place;
  o: Place;
  postNorm: Place;
  gateUp: Place;
  down: Place;
}
export type LayerViews = { [name in keyof LayerPlaces]: View };
export interface WeightViews {
  embed: View;
  layers: LayerViews[];
  norm: View;
  /** The same as `embed` when tied. */
  head: View;
}

export class ParameterLayout {
  readonly parameters: Parameter[] = [];
  /** What lies side by side, as one: where weight decay applies. `offset` is a multiple of 64. */
  readonly segments: { offset: number; size: number; decay: boolean }[] = [];
  /** Floats of the whole buffer, a multiple of 64. */
  readonly size: number;
  readonly #embed: Place;
  readonly #layers: LayerPlaces[] = [];
  readonly #norm: Place;
  readonly #head: Place;

  constructor(readonly config: ModelConfig) {
    const { hidden_size: h, intermediate_size: i, head_dim: d, vocab_size: v } = config;
    const q = config.num_attention_heads * d;
    const kv = config.num_key_value_heads * d;
    let end = 0;
    const place = (...tensors: [name: string, ...shape: number[]][]): Place => {
      const start = end;
      for (const [name, ...shape] of tensors) {
        const size = shape.reduce((a, b) => a * b, 1);
        this.parameters.push({ name, shape, offset: end, size });
        end += size;
      }
      const floats = end - start;
      // Norms and biases are not decayed.
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

  /** The tensors inside a buffer of this layout. */
  views(flat: View): WeightViews {
    const view = ([start, floats]: Place): View => subview(flat, start * 4, Math.ceil(floats / ALIGN) * ALIGN * 4);
    const all = <T extends object>(places: T): { [name in keyof T]: View } =>
      Object.fromEntries(Object.entries(places).map(([name, place]) => [name, view(place as Place)])) as { [name in keyof T]: View };
    return { embed: view(this.#embed), layers: this.#layers.map((places) => all(places)), norm: view(this.#norm), head: view(this.#head) };
  }

  /**
   * The flat form of named tensors.
   * @throws Error naming every tensor that is missing, unknown or misshapen
   */
  flatten(tensors: TensorMap): Float32Array<ArrayBuffer> {
    const problems = tensorProblems(this, tensors);
    if (problems.length > 0) throw new Error(problems.join('; '));
    const flat = new Float32Array(this.size);
    for (const { name, offset } of this.parameters) flat.set(tensors.get(name)!.data, offset);
    return flat;
  }

  /** The named tensors of a flat array (views of it, not copies). */
  unflatten(flat: Float32Array): TensorMap {
    return new Map(this.parameters.map(({ name, shape, offset, size }) => [name, { shape, data: flat.subarray(offset, offset + size) }]));
  }
}

/** What is wrong with a set of tensors for a model; a tied model's own `lm_head.weight` is let pass. */
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
  for (const name of tensors.keys()) if (!known.has(name)) problems.push(`tensor ${name} is not part of a ${config.model_type} model with ${config.num_hidden_layers} layers`);
  return problems;
}

/** Fresh weights as Hugging Face initialises them: normal(0, 0.02) for matrices, 1 for norms, 0 for biases. The same seed gives the same weights. */
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

/** A small uniform generator on [0, 1), here only so that initial weights are reproducible. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296;
  };
}
