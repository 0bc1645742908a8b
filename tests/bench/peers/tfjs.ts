/** @file The same decoder in TensorFlow.js on WebGPU, with the library's operations, `variableGrads` and Adam. */
import '@tensorflow/tfjs-backend-webgpu';
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import * as tf from '@tensorflow/tfjs-core';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { TensorMap } from '../../../src/engine/types.ts';
import { ADAM, SHAPE, type TrainingPeer } from './workload.ts';

const { batch: BATCH, length: LENGTH } = SHAPE;

export async function openTensorFlow(): Promise<void> {
  if (!(await tf.setBackend('webgpu'))) throw new Error('TensorFlow.js found no WebGPU');
  await tf.ready();
}

export function tensorFlowTraining(c: ModelConfig, weights: TensorMap): TrainingPeer {
  const { num_attention_heads: heads, head_dim, vocab_size, rms_norm_eps } = c;
  const variables = new Map([...weights].map(([name, { shape, data }]) => [name, tf.variable(tf.tensor(data, [...shape]))]));
  const weight = (name: string) => variables.get(`${name}.weight`)!;
  const [cos, sin] = ropeTables(c);
  const mask = tf.tidy(() =>
    tf.linalg
      .bandPart(tf.ones([LENGTH, LENGTH]), -1, 0)
      .sub(1)
      .mul(1e9)
      .reshape([1, 1, LENGTH, LENGTH]),
  );
  const adam = tf.train.adam(ADAM.lr, ADAM.beta1, ADAM.beta2, ADAM.eps);

  const norm = (x: tf.Tensor, name: string) => x.mul(x.square().mean(-1, true).add(rms_norm_eps).rsqrt()).mul(weight(name));
  /** x · Wᵀ: weights are [out, in]. */
  const linear = (x: tf.Tensor, name: string) => tf.matMul(x as tf.Tensor2D, weight(name) as tf.Tensor2D, false, true);
  const rotate = (x: tf.Tensor) => {
    const [low, high] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
    return tf.concat([low.mul(cos).sub(high.mul(sin)), high.mul(cos).add(low.mul(sin))], -1);
  };
  /** [B·T, d] → [B, H, T, head_dim] */
  const split = (x: tf.Tensor) => x.reshape([BATCH, LENGTH, heads, head_dim]);
  const byHead = (x: tf.Tensor) => x.transpose([0, 2, 1, 3]);

  const loss = (inputs: tf.Tensor1D, targets: tf.Tensor1D): tf.Scalar => {
    let x: tf.Tensor = tf.gather(weight('model.embed_tokens'), inputs);
    for (let layer = 0; layer < c.num_hidden_layers; layer++) {
      const at = `model.layers.${layer}.`;
      const normed = norm(x, `${at}input_layernorm`);
      const project = (name: string) => split(linear(normed, `${at}self_attn.${name}_proj`));
      const q = rotate(byHead(norm(project('q'), `${at}self_attn.q_norm`)));
      const k = rotate(byHead(norm(project('k'), `${at}self_attn.k_norm`)));
      const scores = tf.matMul(q, k, false, true).mul(1 / Math.sqrt(head_dim)).add(mask); // prettier-ignore
      const mixed = byHead(tf.matMul(tf.softmax(scores), byHead(project('v')))).reshape([BATCH * LENGTH, heads * head_dim]);
      x = x.add(linear(mixed, `${at}self_attn.o_proj`));
      const inner = norm(x, `${at}post_attention_layernorm`);
      const gate = linear(inner, `${at}mlp.gate_proj`);
      x = x.add(linear(gate.mul(tf.sigmoid(gate)).mul(linear(inner, `${at}mlp.up_proj`)), `${at}mlp.down_proj`));
    }
    const logits = linear(norm(x, 'model.norm'), 'model.embed_tokens');
    return tf.losses.softmaxCrossEntropy(tf.oneHot(targets, vocab_size), logits).asScalar();
  };

  const flat = (batch: Int32Array[], from: number) =>
    tf.tensor1d(Int32Array.from(batch.flatMap((tokens) => [...tokens.subarray(from, from + LENGTH)])), 'int32');
  return {
    name: 'TensorFlow.js',
    async step(batch) {
      const [inputs, targets] = [flat(batch, 0), flat(batch, 1)];
      const cost = adam.minimize(() => loss(inputs, targets), true, [...variables.values()])!;
      const [value] = await cost.data();
      // Read a weight to wait until the update has ended.
      await tf.tidy(() => weight('model.norm').slice([0], [1])).data();
      tf.dispose([inputs, targets, cost]);
      return value!;
    },
    dispose() {
      tf.dispose([...variables.values(), cos, sin, mask]);
      adam.dispose();
    },
  };
}

function ropeTables({ head_dim, rope_theta }: ModelConfig): [cos: tf.Tensor, sin: tf.Tensor] {
  const half = head_dim / 2;
  const angles = Float64Array.from({ length: LENGTH * half }, (_, i) => Math.floor(i / half) / rope_theta ** ((i % half) / half));
  const table = (f: (angle: number) => number) => tf.tensor(Float32Array.from(angles, f), [1, 1, LENGTH, half]);
  return [table(Math.cos), table(Math.sin)];
}
