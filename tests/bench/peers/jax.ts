/**
 * @file The same decoder in jax-js. An operation of jax-js consumes its operands, and `.ref` keeps an operand for another use.
 * The embedding and the choice of the target's log-probability are matmuls with one-hot matrices, because the gradient of `take`
 * does not compile under `jit` in this version.
 */
import * as jax from '@jax-js/jax';
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { TensorMap } from '../../../src/engine/types.ts';
import { ADAM, BATCH, LENGTH, type MatmulPeer, type TrainingPeer } from './workload.ts';

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

const zerosLike = (arrays: Arrays): Arrays =>
  Object.fromEntries(
    Object.entries(arrays).map(([name, array]) => [name, np.array(new Float32Array(array.size)).reshape([...array.shape])]),
  );

/** Mean negative log-likelihood of `targets` [B·T] given `inputs` [B·T]. */
function lossOf(c: ModelConfig) {
  const width = c.num_attention_heads * c.head_dim;
  const norm = (x: np.Array, weight: np.Array) => {
    const rms = np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(c.rms_norm_eps));
    return x.mul(np.reciprocal(rms)).mul(weight);
  };
  const rotate = (x: np.Array, cos: np.Array, sin: np.Array) => {
    const [low, high] = np.split(x, 2, -1) as [np.Array, np.Array];
    const first = low.ref.mul(cos.ref).sub(high.ref.mul(sin.ref));
    return np.concatenate([first, high.mul(cos).add(low.mul(sin))], -1);
  };
  return (p: Arrays, inputs: np.Array, targets: np.Array, cos: np.Array, sin: np.Array): np.Array => {
    const take = (name: string) => p[name]!;
    const embedding = take('model.embed_tokens.weight');
    let x = np.matmul(nn.oneHot(inputs, c.vocab_size), embedding.ref).reshape([BATCH, LENGTH, c.hidden_size]);
    for (let layer = 0; layer < c.num_hidden_layers; layer++) {
      const weight = (name: string) => take(`model.layers.${layer}.${name}.weight`);
      const normed = norm(x.ref, weight('input_layernorm'));
      const project = (name: string) =>
        np.matmul(normed.ref, weight(`self_attn.${name}_proj`)).reshape([BATCH, LENGTH, c.num_attention_heads, c.head_dim]);
      const q = rotate(norm(project('q'), weight('self_attn.q_norm')), cos.ref, sin.ref);
      const k = rotate(norm(project('k'), weight('self_attn.k_norm')), cos.ref, sin.ref);
      const v = project('v');
      normed.dispose();
      const mixed = nn.dotProductAttention(q, k, v, { isCausal: true }).reshape([BATCH, LENGTH, width]);
      x = x.add(np.matmul(mixed, weight('self_attn.o_proj')));
      const inner = norm(x.ref, weight('post_attention_layernorm'));
      const gate = nn.silu(np.matmul(inner.ref, weight('mlp.gate_proj')));
      const up = np.matmul(inner, weight('mlp.up_proj'));
      x = x.add(np.matmul(gate.mul(up), weight('mlp.down_proj')));
    }
    cos.dispose();
    sin.dispose();
    const hidden = norm(x, take('model.norm.weight')).reshape([BATCH * LENGTH, c.hidden_size]);
    const logits = np.matmul(hidden, np.transpose(embedding));
    const total = nn.logsumexp(logits.ref, -1);
    const picked = np.sum(logits.mul(nn.oneHot(targets, c.vocab_size)), -1);
    return np.mean(total.sub(picked));
  };
}

function ropeTables({ head_dim, rope_theta }: ModelConfig): { cos: np.Array; sin: np.Array } {
  const half = head_dim / 2;
  const angles = Float64Array.from({ length: LENGTH * half }, (_, i) => Math.floor(i / half) / rope_theta ** ((i % half) / half));
  const table = (f: (angle: number) => number) => np.array(Float32Array.from(angles, f)).reshape([1, LENGTH, 1, half]);
  return { cos: table(Math.cos), sin: table(Math.sin) };
}

export function jaxTraining(config: ModelConfig, weights: TensorMap, device: 'webgpu' | 'wasm'): TrainingPeer {
  jax.defaultDevice(device);
  const { lr, beta1, beta2, eps } = ADAM;
  const gradient = valueAndGrad(lossOf(config));
  const update = jit(
    (p: Arrays, m: Arrays, v: Arrays, corrections: np.Array, inputs: np.Array, targets: np.Array, cos: np.Array, sin: np.Array) => {
      const [loss, gradients] = gradient(tree.ref(p), inputs, targets, cos, sin) as unknown as [np.Array, Arrays];
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
  let p = parametersOf(weights);
  let m = zerosLike(p);
  let v = zerosLike(p);
  const { cos, sin } = ropeTables(config);
  let steps = 0;
  const flat = (batch: Int32Array[], from: number) =>
    np.array(Int32Array.from(batch.flatMap((tokens) => [...tokens.subarray(from, from + LENGTH)])), { dtype: np.int32 });
  return {
    name: `jax-js ${device}`,
    async step(batch) {
      jax.defaultDevice(device);
      steps += 1;
      const corrections = np.array(Float32Array.of(1 / (1 - beta1 ** steps), 1 / (1 - beta2 ** steps)));
      const [loss, ...state] = update(p, m, v, corrections, flat(batch, 0), flat(batch, 1), cos.ref, sin.ref);
      [p, m, v] = state;
      const [value] = await loss.data();
      await jax.blockUntilReady([p, m, v]);
      return value!;
    },
    dispose() {
      for (const arrays of [p, m, v]) tree.dispose(arrays);
      cos.dispose();
      sin.dispose();
    },
  };
}
