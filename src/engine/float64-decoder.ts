/**
 * Qwen2, Qwen3 and Llama decoders in float64, token by token, written from tests/reference/qwen3.py without the engine's code. The
 * self-test and tests compare the engine with it.
 */
import type { ModelConfig } from './types.ts';

type Vector = Float64Array;
export interface Tensor {
  data: Float32Array | Float64Array;
}
/** Tensors under Hugging Face's names. */
export type Float64Weights = ReadonlyMap<string, Tensor>;

/** Returns a function that takes the next token and returns the logits after it. */
export function float64Decoder(c: ModelConfig, weights: Float64Weights): (token: number) => Vector {
  const d = c.head_dim;
  const group = c.num_attention_heads / c.num_key_value_heads;
  const data = (name: string) => weights.get(name)!.data;
  const dot = (a: ArrayLike<number>, b: ArrayLike<number>, aStart = 0, bStart = 0, length = a.length) => {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += a[aStart + i]! * b[bStart + i]!;
    return sum;
  };
  const linear = (x: Vector, name: string): Vector => {
    const w = data(`${name}.weight`);
    const bias = weights.get(`${name}.bias`)?.data;
    return Float64Array.from({ length: w.length / x.length }, (_, row) => dot(x, w, 0, row * x.length) + (bias?.[row] ?? 0));
  };
  const norm = (x: Vector, name: string): Vector => {
    const scale = 1 / Math.sqrt(dot(x, x) / x.length + c.rms_norm_eps);
    return x.map((value, i) => value * scale * data(`${name}.weight`)[i]!);
  };
  const frequency = (pair: number): number => {
    const plain = 1 / c.rope_theta ** ((2 * pair) / d);
    if (!c.rope_scaling) return plain;
    const { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: length } = c.rope_scaling;
    const wavelength = (2 * Math.PI) / plain;
    if (wavelength < length / high) return plain;
    if (wavelength > length / low) return plain / factor;
    const smooth = (length / wavelength - low) / (high - low);
    return ((1 - smooth) * plain) / factor + smooth * plain;
  };
  const rotate = (x: Vector, position: number): Vector =>
    x.map((value, i) => {
      const angle = position * frequency(i % (d / 2));
      const other = i < d / 2 ? -x[i + d / 2]! : x[i - d / 2]!;
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
  const heads = (x: Vector, normName?: string): Vector[] =>
    Array.from({ length: x.length / d }, (_, head) => {
      const part = x.slice(head * d, (head + 1) * d);
      return normName ? norm(part, normName) : part;
    });
  const add = (a: Vector, b: Vector): Vector => a.map((value, i) => value + b[i]!);

  const caches = Array.from({ length: c.num_hidden_layers }, () => ({ keys: [] as Vector[][], values: [] as Vector[][] }));
  const attention = (x: Vector, layer: number): Vector => {
    const at = `model.layers.${layer}.self_attn`;
    const { keys, values } = caches[layer]!;
    const position = keys.length;
    const normOf = (name: string) => (weights.has(`${at}.${name}.weight`) ? `${at}.${name}` : undefined);
    keys.push(heads(linear(x, `${at}.k_proj`), normOf('k_norm')).map((k) => rotate(k, position)));
    values.push(heads(linear(x, `${at}.v_proj`)));
    const mixed = heads(linear(x, `${at}.q_proj`), normOf('q_norm')).flatMap((query, head) => {
      const q = rotate(query, position);
      const shared = Math.floor(head / group);
      const scores = keys.map((key) => dot(q, key[shared]!) / Math.sqrt(d));
      const max = Math.max(...scores);
      const shares = scores.map((score) => Math.exp(score - max));
      const total = shares.reduce((a, b) => a + b);
      return Array.from({ length: d }, (_, i) => shares.reduce((sum, share, t) => sum + share * values[t]![shared]![i]!, 0) / total);
    });
    return linear(Float64Array.from(mixed), `${at}.o_proj`);
  };
  const mlp = (x: Vector, at: string): Vector => {
    const up = linear(x, `${at}.up_proj`);
    return linear(
      linear(x, `${at}.gate_proj`).map((gate, i) => (gate / (1 + Math.exp(-gate))) * up[i]!),
      `${at}.down_proj`,
    );
  };
  const embedding = data('model.embed_tokens.weight');
  return (token) => {
    let x: Vector = Float64Array.from(embedding.subarray(token * c.hidden_size, (token + 1) * c.hidden_size));
    for (let layer = 0; layer < c.num_hidden_layers; layer++) {
      const at = `model.layers.${layer}`;
      x = add(x, attention(norm(x, `${at}.input_layernorm`), layer));
      x = add(x, mlp(norm(x, `${at}.post_attention_layernorm`), `${at}.mlp`));
    }
    return linear(norm(x, 'model.norm'), c.tie_word_embeddings ? 'model.embed_tokens' : 'lm_head');
  };
}
