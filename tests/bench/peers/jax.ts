/**
 * @file The same decoder in jax-js. An operation of jax-js consumes its operands, and `.ref` keeps an operand for another use.
 * The embedding and the choice of the target's log-probability are matmuls with one-hot matrices, because the gradient of `take`
 * does not compile under `jit` in this version.
 */
import * as jax from '@jax-js/jax';
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { hasQkNorm } from '../../../src/engine/config.ts';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { TensorMap } from '../../../src/engine/types.ts';
import { ADAM, type BatchShape, type MatmulPeer, type TrainingPeer } from './workload.ts';

type Arrays = Record<string, np.Array>;

export async function openJax(): Promise<void> {
  const devices = await jax.init();
  if (!devices.includes('webgpu')) throw new Error(`jax-js found no WebGPU, only ${devices.join(', ')}`);
}

export function jaxMatmul(m: number, k: number, n: number): MatmulPeer {
  jax.defaultDevice('webgpu');
  const filled = (rows: number, columns: number) =>
    np.array(new Float32Array(rows * columns).map((_, i) => (i % 7) - 3)).reshape([rows, columns]);
  const [a, b] = [filled(m, k), filled(k, n)];
  const product = jit((x: np.Array, y: np.Array) => np.matmul(x, y));
  return {
    name: 'jax-js',
    async run(times) {
      jax.defaultDevice('webgpu');
      const results = Array.from({ length: times }, () => product(a.ref, b.ref));
      await jax.blockUntilReady(results);
      for (const result of results) result.dispose();
    },
    dispose: () => [a, b].forEach((x) => x.dispose()),
  };
}

/** Linear weights as [in, out], so that the device need not transpose them. */
function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(data.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) out[c * rows + r] = data[r * columns + c]!;
  return out;
}

function parametersOf(weights: TensorMap): Arrays {
  const entries = [...weights].map(([name, { shape, data }]) => {
    const linear = shape.length === 2 && !name.includes('embed_tokens');
    const [rows, columns] = shape as [number, number];
    return [
      name,
      linear ? np.array(transposed(data, rows, columns)).reshape([columns, rows]) : np.array(data.slice()).reshape(shape),
    ] as const;
  });
  return Object.fromEntries(entries);
}

/** As `parametersOf`, but the embedding is only the head. */
function frozenOf(weights: TensorMap): Arrays {
  const layers = new Map(weights);
  const { shape, data } = weights.get('model.embed_tokens.weight')!;
  layers.delete('model.embed_tokens.weight');
  const [vocab, hidden] = shape as [number, number];
  return { ...parametersOf(layers), [HEAD]: np.array(transposed(data, vocab, hidden)).reshape([hidden, vocab]) };
}

const zerosLike = (arrays: Arrays): Arrays =>
  Object.fromEntries(
    Object.entries(arrays).map(([name, array]) => [name, np.array(new Float32Array(array.size)).reshape([...array.shape])]),
  );

/** The name of a frozen embedding, as [hidden, vocab]. */
const HEAD = 'head';

/**
 * Mean negative log-likelihood of `targets` [B·T]. `p` is trained, and `frozen` is not. `inputs` are tokens [B·T], or their embeddings
 * [B, T, hidden] if the embedding is frozen.
 */
function lossOf(c: ModelConfig, { batch, length }: BatchShape, scale = 1) {
  const width = c.num_attention_heads * c.head_dim;
  const norm = (x: np.Array, weight: np.Array) => {
    const rms = np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(c.rms_norm_eps));
    return x.mul(np.reciprocal(rms)).mul(weight);
  };
  // nn.oneHot makes a matrix of all words by all words, which is too large for a large vocabulary.
  const oneHot = (ids: np.Array) => np.equal(ids.reshape([-1, 1]), np.arange(c.vocab_size).reshape([1, -1])).astype(np.float32);
  const rotate = (x: np.Array, cos: np.Array, sin: np.Array) => {
    const [low, high] = np.split(x, 2, -1) as [np.Array, np.Array];
    const first = low.ref.mul(cos.ref).sub(high.ref.mul(sin.ref));
    return np.concatenate([first, high.mul(cos).add(low.mul(sin))], -1);
  };
  return (p: Arrays, frozen: Arrays, inputs: np.Array, targets: np.Array, cos: np.Array, sin: np.Array): np.Array => {
    const take = (name: string) => (p[name] ?? frozen[name])!;
    const linear = (x: np.Array, name: string) => {
      const [down, up] = [p[`${name}.lora_A`], p[`${name}.lora_B`]];
      if (!down || !up) return np.matmul(x, take(`${name}.weight`));
      return np.matmul(x.ref, take(`${name}.weight`)).add(np.matmul(np.matmul(x, down), up).mul(scale));
    };
    let x = inputs;
    let head = frozen[HEAD];
    if (!head) {
      const embedding = take('model.embed_tokens.weight');
      x = np.matmul(oneHot(inputs), embedding.ref).reshape([batch, length, c.hidden_size]);
      head = np.transpose(embedding);
    }
    for (let layer = 0; layer < c.num_hidden_layers; layer++) {
      const at = (name: string) => `model.layers.${layer}.${name}`;
      const weight = (name: string) => take(`${at(name)}.weight`);
      const normed = norm(x.ref, weight('input_layernorm'));
      const project = (name: string) => linear(normed.ref, at(`self_attn.${name}_proj`)).reshape([batch, length, -1, c.head_dim]);
      const normOf = (name: string) => (hasQkNorm(c) ? norm(project(name), weight(`self_attn.${name}_norm`)) : project(name));
      const q = rotate(normOf('q'), cos.ref, sin.ref);
      const k = rotate(normOf('k'), cos.ref, sin.ref);
      const v = project('v');
      normed.dispose();
      const mixed = nn.dotProductAttention(q, k, v, { isCausal: true }).reshape([batch, length, width]);
      x = x.add(linear(mixed, at('self_attn.o_proj')));
      const inner = norm(x.ref, weight('post_attention_layernorm'));
      const gate = nn.silu(linear(inner.ref, at('mlp.gate_proj')));
      const up = linear(inner, at('mlp.up_proj'));
      x = x.add(linear(gate.mul(up), at('mlp.down_proj')));
    }
    cos.dispose();
    sin.dispose();
    const hidden = norm(x, take('model.norm.weight')).reshape([batch * length, c.hidden_size]);
    const logits = np.matmul(hidden, head);
    const total = nn.logsumexp(logits.ref, -1);
    const picked = np.sum(logits.mul(oneHot(targets)), -1);
    return np.mean(total.sub(picked));
  };
}

function ropeTables({ head_dim, rope_theta }: ModelConfig, length: number): { cos: np.Array; sin: np.Array } {
  const half = head_dim / 2;
  const angles = Float64Array.from({ length: length * half }, (_, i) => Math.floor(i / half) / rope_theta ** ((i % half) / half));
  const table = (f: (angle: number) => number) => np.array(Float32Array.from(angles, f)).reshape([1, length, 1, half]);
  return { cos: table(Math.cos), sin: table(Math.sin) };
}

/** The adapters of the engine, whose names are PEFT's, under the names of the loss. */
function adaptersOf(adapters: TensorMap): Arrays {
  return Object.fromEntries(
    [...adapters].map(([name, { shape, data }]) => {
      const [rows, columns] = shape as [number, number];
      const short = name.replace('base_model.model.', '').replace('.weight', '');
      return [short, np.array(transposed(data, rows, columns)).reshape([columns, rows])] as const;
    }),
  );
}

/** Trains the adapters of `lora` if they are given, else all weights. */
export function jaxTraining(
  config: ModelConfig,
  weights: TensorMap,
  device: 'webgpu' | 'wasm',
  shape: BatchShape,
  lora?: { adapters: TensorMap; scale: number },
): TrainingPeer {
  const { length } = shape;
  jax.defaultDevice(device);
  const { lr, beta1, beta2, eps } = ADAM;
  const gradient = valueAndGrad(lossOf(config, shape, lora?.scale));
  const update = jit(
    (p: Arrays, frozen: Arrays, m: Arrays, v: Arrays, corrections: np.Array, inputs: np.Array, targets: np.Array, ...rope: np.Array[]) => {
      const [cos, sin] = rope as [np.Array, np.Array];
      const [loss, gradients] = gradient(tree.ref(p), frozen, inputs, targets, cos, sin) as unknown as [np.Array, Arrays];
      const [first, second] = np.split(corrections, 2) as [np.Array, np.Array];
      const next: [Arrays, Arrays, Arrays] = [{}, {}, {}];
      for (const name of Object.keys(p)) {
        const g = gradients[name]!;
        const mean = m[name]!.mul(beta1).add(g.ref.mul(1 - beta1));
        const square = v[name]!.mul(beta2).add(np.square(g).mul(1 - beta2));
        const denominator = np.sqrt(square.ref.mul(second.ref)).add(eps);
        next[0][name] = p[name]!.sub(mean.ref.mul(first.ref).div(denominator).mul(lr));
        next[1][name] = mean;
        next[2][name] = square;
      }
      first.dispose();
      second.dispose();
      return [loss, ...next] as [np.Array, Arrays, Arrays, Arrays];
    },
  );
  const frozen = lora ? frozenOf(weights) : {};
  let p = lora ? adaptersOf(lora.adapters) : parametersOf(weights);
  let m = zerosLike(p);
  let v = zerosLike(p);
  const { cos, sin } = ropeTables(config, length);
  let steps = 0;
  const embedding = weights.get('model.embed_tokens.weight')!.data;
  /** The embeddings of all tokens but the last. */
  const embedded = (batch: Int32Array[]) => {
    const hidden = config.hidden_size;
    const rows = batch.flatMap((tokens) => [...tokens.subarray(0, length)]);
    const out = new Float32Array(rows.length * hidden);
    for (const [i, token] of rows.entries()) out.set(embedding.subarray(token * hidden, (token + 1) * hidden), i * hidden);
    return np.array(out).reshape([batch.length, length, hidden]);
  };
  const flat = (batch: Int32Array[], from: number) =>
    np.array(Int32Array.from(batch.flatMap((tokens) => [...tokens.subarray(from, from + length)])), { dtype: np.int32 });
  return {
    name: `jax-js ${device}`,
    async step(batch) {
      jax.defaultDevice(device);
      steps += 1;
      const corrections = np.array(Float32Array.of(1 / (1 - beta1 ** steps), 1 / (1 - beta2 ** steps)));
      const inputs = lora ? embedded(batch) : flat(batch, 0);
      const [loss, ...state] = update(p, tree.ref(frozen), m, v, corrections, inputs, flat(batch, 1), cos.ref, sin.ref);
      [p, m, v] = state;
      const [value] = await loss.data();
      await jax.blockUntilReady([p, m, v]);
      return value!;
    },
    dispose() {
      for (const arrays of [p, frozen, m, v]) tree.dispose(arrays);
      cos.dispose();
      sin.dispose();
    },
  };
}
