/**
 * @file Decoders as ONNX graphs. Inputs and outputs have Optimum's names, as transformers.js expects. With B sequences,
 * S new tokens, P tokens in the cache and T = P + S, they are:
 *
 *   input_ids, position_ids [B, S], attention_mask [B, T]: int64
 *   past_key_values.N.key, .value [B, key-value heads, P, head_dim] → present.N.key, .value [B, key-value heads, T, head_dim]
 *   logits [B, S, vocabulary]: float32
 *
 * With float16, the weights, activations and the cache are float16. The norms, the attention scores, their softmax and the logits are
 * float32.
 */
import { hasQkNorm } from '../../engine/config.ts';
import { ropeFrequencies } from '../../engine/rope.ts';
import type { TensorMap } from '../../engine/types.ts';
import type { ModelConfig } from '../../records/model.ts';
import { MAX_HALF, toHalf } from '../../base/half.ts';
import { GraphBuilder } from './graph-builder.ts';
import { ELEMENT, type Graph, OnnxError } from './onnx-file.ts';

export type OnnxPrecision = 'f32' | 'f16';

/** Added to the score of a key that a query may not see. It is finite, because a row with only hidden keys would otherwise give NaN. */
const HIDDEN = -1e9;

class DecoderGraph {
  readonly #g = new GraphBuilder();
  readonly #c: ModelConfig;
  readonly #weights: TensorMap;
  readonly #half: boolean;
  readonly #float: 'float16' | 'float32';
  /** cos and sin of the RoPE angles of every token: [B, 1, S, head_dim / 2]. */
  readonly #rotation: { cos: string; sin: string };
  readonly #bias: string;

  constructor(config: ModelConfig, weights: TensorMap, precision: OnnxPrecision) {
    this.#c = config;
    this.#weights = weights;
    this.#half = precision === 'f16';
    this.#float = this.#half ? 'float16' : 'float32';
    const g = this.#g;
    const ids = g.input('input_ids', 'int64', ['batch_size', 'sequence_length']);
    const mask = g.input('attention_mask', 'int64', ['batch_size', 'total_sequence_length']);
    const positions = g.input('position_ids', 'int64', ['batch_size', 'sequence_length']);
    this.#rotation = this.#rotary(positions);
    this.#bias = this.#attentionBias(ids, mask);
    let x = g.add('Gather', [this.#weight('model.embed_tokens.weight'), ids]);
    for (let layer = 0; layer < config.num_hidden_layers; layer++) {
      const at = `model.layers.${layer}`;
      x = g.add('Add', [x, this.#attention(this.#norm(x, `${at}.input_layernorm`), layer)]);
      x = g.add('Add', [x, this.#mlp(this.#norm(x, `${at}.post_attention_layernorm`), `${at}.mlp`)]);
    }
    this.#logits(this.#norm(x, 'model.norm'));
  }

  build(): Graph {
    return this.#g.graph();
  }

  #tensor(name: string) {
    const tensor = this.#weights.get(name);
    if (!tensor) throw new OnnxError(`tensor ${name} is missing`);
    if (this.#half) {
      const bad = tensor.data.findIndex((x) => Math.abs(x) > MAX_HALF);
      if (bad >= 0)
        throw new OnnxError(
          `tensor ${name}: element ${bad} is ${tensor.data[bad]}: expected at most ${MAX_HALF}, the largest float16; choose f32`,
        );
    }
    return tensor;
  }

  #floats(name: string, shape: readonly number[], data: () => Float32Array): string {
    return this.#g.constant(name, this.#float, shape, () => (this.#half ? toHalf(data()) : data()));
  }

  #weight(name: string): string {
    const { shape, data } = this.#tensor(name);
    return this.#floats(name, shape, () => data);
  }

  #toFloat32(x: string, output?: string): string {
    return this.#half ? this.#g.add('Cast', [x], { to: ELEMENT.float32 }, output) : x;
  }

  #toFloat(x: string): string {
    return this.#half ? this.#g.add('Cast', [x], { to: ELEMENT.float16 }) : x;
  }

  /** x·Wᵀ, plus the bias if the model has one. Hugging Face stores W as [out, in], but MatMul needs [in, out]. */
  #linear(x: string, name: string, output?: string): string {
    const { shape, data } = this.#tensor(`${name}.weight`);
    const [rows, columns] = shape as [number, number];
    const transposed = () => {
      const result = new Float32Array(data.length);
      for (let r = 0; r < rows; r++) for (let k = 0; k < columns; k++) result[k * rows + r] = data[r * columns + k]!;
      return result;
    };
    const product = this.#g.add('MatMul', [x, this.#floats(`${name}.weight`, [columns, rows], transposed)], undefined, output);
    return this.#weights.has(`${name}.bias`) ? this.#g.add('Add', [product, this.#weight(`${name}.bias`)]) : product;
  }

  /** RMSNorm over the last axis, in float32. ONNX Runtime fuses these operators into one. */
  #norm(x: string, name: string): string {
    const g = this.#g;
    const wide = this.#toFloat32(x);
    const two = g.constant('two', 'float32', [], () => Float32Array.of(2));
    const eps = g.constant('rms_norm_eps', 'float32', [], () => Float32Array.of(this.#c.rms_norm_eps));
    const mean = g.add('ReduceMean', [g.add('Pow', [wide, two])], { axes: { ints: [-1] }, keepdims: 1 });
    const scaled = g.add('Div', [wide, g.add('Sqrt', [g.add('Add', [mean, eps])])]);
    return g.add('Mul', [this.#toFloat(scaled), this.#weight(`${name}.weight`)]);
  }

  /** cos and sin of the RoPE angles. They come from a table, because GPUs compute cos and sin of large angles inexactly. */
  #rotary(positions: string): { cos: string; sin: string } {
    const { head_dim, max_position_embeddings: rows } = this.#c;
    const frequencies = ropeFrequencies(this.#c);
    const half = head_dim / 2;
    const table = (name: string, of: (angle: number) => number) => {
      const values = () => Float32Array.from({ length: rows * half }, (_, i) => of(Math.floor(i / half) * frequencies[i % half]!));
      const row = this.#g.add('Gather', [this.#floats(`rotary_${name}`, [rows, half], values), positions]);
      return this.#g.add('Unsqueeze', [row, this.#g.integers(1)]);
    };
    return { cos: table('cos', Math.cos), sin: table('sin', Math.sin) };
  }

  /** [B, 1, S, T]: 0 where a query may see a key, else `HIDDEN`. The S queries are the last of the T tokens. */
  #attentionBias(ids: string, mask: string): string {
    const g = this.#g;
    const length = (x: string) => g.add('Gather', [g.add('Shape', [x]), g.integer(1)]);
    const total = length(mask);
    const range = (from: string) => g.add('Range', [from, total, g.integer(1)]);
    const queries = g.add('Unsqueeze', [range(g.add('Sub', [total, length(ids)])), g.integers(1)]);
    const causal = g.add('LessOrEqual', [range(g.integer(0)), queries]);
    const present = g.add('Unsqueeze', [g.add('Cast', [mask], { to: ELEMENT.bool }), g.integers(1, 2)]);
    const value = (name: string, x: number) => g.constant(name, 'float32', [], () => Float32Array.of(x));
    return g.add('Where', [g.add('And', [causal, present]), value('visible', 0), value('hidden', HIDDEN)]);
  }

  /** [B, S, count · head_dim] → [B, count, S, head_dim] */
  #heads(x: string, count: number, norm?: string): string {
    const g = this.#g;
    const split = g.add('Reshape', [x, g.integers(0, 0, count, this.#c.head_dim)]);
    return g.add('Transpose', [norm ? this.#norm(split, norm) : split], { perm: { ints: [0, 2, 1, 3] } });
  }

  #rotate(x: string): string {
    const g = this.#g;
    const { cos, sin } = this.#rotation;
    const [a, b] = g.halves(x);
    const first = g.add('Sub', [g.add('Mul', [a, cos]), g.add('Mul', [b, sin])]);
    const second = g.add('Add', [g.add('Mul', [b, cos]), g.add('Mul', [a, sin])]);
    return g.add('Concat', [first, second], { axis: -1 });
  }

  /** Appends the new keys or values to those of the cache. */
  #extended(x: string, layer: number, what: 'key' | 'value'): string {
    const { num_key_value_heads, head_dim } = this.#c;
    const shape = (length: string) => ['batch_size', num_key_value_heads, length, head_dim];
    const past = this.#g.input(`past_key_values.${layer}.${what}`, this.#float, shape('past_sequence_length'));
    const present = this.#g.add('Concat', [past, x], { axis: 2 }, `present.${layer}.${what}`);
    this.#g.output(present, this.#float, shape('total_sequence_length'));
    return present;
  }

  #attention(x: string, layer: number): string {
    const g = this.#g;
    const { num_attention_heads: queries, num_key_value_heads: groups, head_dim } = this.#c;
    const at = `model.layers.${layer}.self_attn`;
    const normOf = (name: string) => (hasQkNorm(this.#c) ? `${at}.${name}` : undefined);
    const q = this.#rotate(this.#heads(this.#linear(x, `${at}.q_proj`), queries, normOf('q_norm')));
    const newKeys = this.#rotate(this.#heads(this.#linear(x, `${at}.k_proj`), groups, normOf('k_norm')));
    const keys = this.#extended(newKeys, layer, 'key');
    const values = this.#extended(this.#heads(this.#linear(x, `${at}.v_proj`), groups), layer, 'value');

    // The query heads that share keys become rows of one matmul, so keys and values are not copied for each head.
    const byGroup = (y: string) => g.add('Reshape', [y, g.integers(0, groups, -1, 0)]);
    const byHead = (y: string) => g.add('Reshape', [y, g.integers(0, queries, -1, 0)]);
    const scale = this.#floats('attention_scale', [], () => Float32Array.of(head_dim ** -0.5));
    const transposed = g.add('Transpose', [keys], { perm: { ints: [0, 1, 3, 2] } });
    const scores = byHead(g.add('MatMul', [byGroup(g.add('Mul', [q, scale])), transposed]));
    const shares = g.add('Softmax', [g.add('Add', [this.#toFloat32(scores), this.#bias])], { axis: -1 });
    const mixed = byHead(g.add('MatMul', [byGroup(this.#toFloat(shares)), values]));
    const joined = g.add('Transpose', [mixed], { perm: { ints: [0, 2, 1, 3] } });
    return this.#linear(g.add('Reshape', [joined, g.integers(0, 0, queries * head_dim)]), `${at}.o_proj`);
  }

  #mlp(x: string, at: string): string {
    const g = this.#g;
    const gate = this.#linear(x, `${at}.gate_proj`);
    const silu = g.add('Mul', [gate, g.add('Sigmoid', [gate])]);
    return this.#linear(g.add('Mul', [silu, this.#linear(x, `${at}.up_proj`)]), `${at}.down_proj`);
  }

  #logits(x: string): void {
    const g = this.#g;
    const name = this.#half ? undefined : 'logits';
    const tied = () => g.add('Transpose', [this.#weight('model.embed_tokens.weight')], { perm: { ints: [1, 0] } });
    const product = this.#c.tie_word_embeddings ? g.add('MatMul', [x, tied()], undefined, name) : this.#linear(x, 'lm_head', name);
    this.#toFloat32(product, 'logits');
    g.output('logits', 'float32', ['batch_size', 'sequence_length', this.#c.vocab_size]);
  }
}

/**
 * @param weights tensors with Hugging Face names, as `loadModel` returns them
 * @throws OnnxError if a tensor is missing or has an element that float16 cannot hold
 */
export const onnxDecoder = (config: ModelConfig, weights: TensorMap, precision: OnnxPrecision = 'f32'): Graph =>
  new DecoderGraph(config, weights, precision).build();
