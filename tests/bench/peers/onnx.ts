/**
 * @file onnxruntime-web's WebGPU backend: the decoder as ONNX with its own fused operators (GroupQueryAttention with
 * rotary embedding and cache, SimplifiedLayerNormalization). Keys and values stay on the GPU; logits are read back a step.
 */
import * as ort from 'onnxruntime-web/webgpu';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { TensorMap } from '../../../src/engine/types.ts';
import { FLOAT, type Initializer, INT32, INT64, type Node, onnxModel, type Value } from './onnx-writer.ts';
import type { DecodePeer } from './workload.ts';

/** The Qwen3 decoder for one new token a sequence: `input_ids` [B, 1] → `logits` [B, 1, vocabulary]. */
function onnxDecoder(c: ModelConfig, weights: TensorMap): Uint8Array {
  const nodes: Node[] = [];
  const initializers: Initializer[] = [];
  const queries = c.num_attention_heads * c.head_dim;
  const keys = c.num_key_value_heads * c.head_dim;
  const constant = (name: string, shape: number[], data: Float32Array) => {
    initializers.push({ name, type: FLOAT, shape, data });
    return name;
  };
  const shapeOf = (name: string, sizes: number[]) => {
    initializers.push({ name, type: INT64, shape: [sizes.length], data: BigInt64Array.from(sizes, BigInt) });
    return name;
  };
  let serial = 0;
  const add = (op: string, inputs: string[], attributes?: Node['attributes'], domain?: string): string => {
    const output = `t${serial++}`;
    nodes.push({ op, inputs, outputs: [output], attributes, domain });
    return output;
  };
  const weight = (name: string) => weights.get(`${name}.weight`)!;
  /** Hugging Face stores [out, in]; MatMul wants [in, out]. */
  const linear = (x: string, name: string, as = name) => {
    const { shape, data } = weight(name);
    const [rows, columns] = shape as [number, number];
    const flipped = new Float32Array(data.length);
    for (let r = 0; r < rows; r++) for (let k = 0; k < columns; k++) flipped[k * rows + r] = data[r * columns + k]!;
    return add('MatMul', [x, constant(as, [columns, rows], flipped)]);
  };
  const norm = (x: string, name: string) => {
    const { shape, data } = weight(name);
    return add('SimplifiedLayerNormalization', [x, constant(name, shape, data)], { axis: -1, epsilon: { float: c.rms_norm_eps } });
  };
  const byHead = shapeOf('by_head', [0, 1, -1, c.head_dim]);
  const flatQueries = shapeOf('flat_queries', [0, 1, queries]);
  const flatKeys = shapeOf('flat_keys', [0, 1, keys]);
  const headNorm = (x: string, name: string, flat: string) => add('Reshape', [norm(add('Reshape', [x, byHead]), name), flat]);

  const half = c.head_dim / 2;
  const angles = Float64Array.from(
    { length: c.max_position_embeddings * half },
    (_, i) => Math.floor(i / half) / c.rope_theta ** ((i % half) / half),
  );
  const cos = constant('cos', [c.max_position_embeddings, half], Float32Array.from(angles, Math.cos));
  const sin = constant('sin', [c.max_position_embeddings, half], Float32Array.from(angles, Math.sin));

  const embedding = weight('model.embed_tokens');
  let x = add('Gather', [constant('embedding', embedding.shape, embedding.data), 'input_ids']);
  for (let layer = 0; layer < c.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`;
    const normed = norm(x, `${at}.input_layernorm`);
    const q = headNorm(linear(normed, `${at}.self_attn.q_proj`), `${at}.self_attn.q_norm`, flatQueries);
    const k = headNorm(linear(normed, `${at}.self_attn.k_proj`), `${at}.self_attn.k_norm`, flatKeys);
    const v = linear(normed, `${at}.self_attn.v_proj`);
    const mixed = `mixed.${layer}`;
    nodes.push({
      op: 'GroupQueryAttention',
      domain: 'com.microsoft',
      inputs: [q, k, v, `past.${layer}.key`, `past.${layer}.value`, 'seqlens_k', 'total_sequence_length', cos, sin],
      outputs: [mixed, `present.${layer}.key`, `present.${layer}.value`],
      attributes: { num_heads: c.num_attention_heads, kv_num_heads: c.num_key_value_heads, do_rotary: 1, rotary_interleaved: 0 },
    });
    x = add('Add', [x, linear(mixed, `${at}.self_attn.o_proj`)]);
    const inner = norm(x, `${at}.post_attention_layernorm`);
    const gate = linear(inner, `${at}.mlp.gate_proj`);
    const silu = add('Mul', [gate, add('Sigmoid', [gate])]);
    x = add('Add', [x, linear(add('Mul', [silu, linear(inner, `${at}.mlp.up_proj`)]), `${at}.mlp.down_proj`)]);
  }
  const logits = linear(norm(x, 'model.norm'), 'model.embed_tokens', 'head');
  nodes.push({ op: 'Identity', inputs: [logits], outputs: ['logits'] });

  const layers = Array.from({ length: c.num_hidden_layers }, (_, layer) => layer);
  const cache = (kind: string, length: string): Value[] =>
    layers.flatMap((layer) =>
      ['key', 'value'].map((what) => ({
        name: `${kind}.${layer}.${what}`,
        type: FLOAT,
        shape: ['batch', c.num_key_value_heads, length, c.head_dim],
      })),
    );
  return onnxModel({
    nodes,
    initializers,
    inputs: [
      { name: 'input_ids', type: INT64, shape: ['batch', 1] },
      { name: 'seqlens_k', type: INT32, shape: ['batch'] },
      { name: 'total_sequence_length', type: INT32, shape: [1] },
      ...cache('past', 'past_length'),
    ],
    outputs: [{ name: 'logits', type: FLOAT, shape: ['batch', 1, c.vocab_size] }, ...cache('present', 'total_length')],
  });
}

export async function onnxDecoding(c: ModelConfig, weights: TensorMap): Promise<DecodePeer> {
  ort.env.logLevel = 'error';
  const layers = Array.from({ length: c.num_hidden_layers }, (_, layer) => layer);
  const caches = layers.flatMap((layer) => [`${layer}.key`, `${layer}.value`]);
  const session = await ort.InferenceSession.create(onnxDecoder(c, weights), {
    executionProviders: ['webgpu'],
    preferredOutputLocation: Object.fromEntries(caches.map((name) => [`present.${name}`, 'gpu-buffer' as const])),
  });
  return {
    name: 'onnxruntime-web',
    async decode(prompts, steps) {
      const batch = prompts.length;
      const completions = prompts.map((): number[] => []);
      let ids = prompts;
      let past: Record<string, ort.Tensor> = Object.fromEntries(
        caches.map((name) => [
          `past.${name}`,
          new ort.Tensor('float32', new Float32Array(0), [batch, c.num_key_value_heads, 0, c.head_dim]),
        ]),
      );
      for (let length = 0; length < steps; length++) {
        const outputs = await session.run({
          input_ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [batch, 1]),
          seqlens_k: new ort.Tensor('int32', new Int32Array(batch).fill(length), [batch]),
          total_sequence_length: new ort.Tensor('int32', Int32Array.of(length + 1), [1]),
          ...past,
        });
        const logits = (await outputs.logits!.getData()) as Float32Array;
        ids = completions.map((tokens, i) => {
          const row = logits.subarray(i * c.vocab_size, (i + 1) * c.vocab_size);
          const best = row.reduce((at, value, token) => (value > row[at]! ? token : at), 0);
          tokens.push(best);
          return best;
        });
        for (const tensor of Object.values(past)) tensor.dispose();
        past = Object.fromEntries(caches.map((name) => [`past.${name}`, outputs[`present.${name}`]!]));
      }
      for (const tensor of Object.values(past)) tensor.dispose();
      return completions;
    },
    dispose: () => session.release(),
  };
}
