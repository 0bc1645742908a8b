/**
 * @file onnxruntime-web's backends WebGPU and WASM with the decoder that `mua export` writes. On WebGPU, keys and values stay on
 * the GPU, and the logits are read back each step.
 */
import * as ort from 'onnxruntime-web/webgpu';
import { onnxDecoder } from '../../../src/exchange/onnx/onnx-decoder.ts';
import { onnxFile } from '../../../src/exchange/onnx/onnx-file.ts';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { TensorMap } from '../../../src/engine/types.ts';
import type { DecodePeer } from './workload.ts';

const int64 = (values: number[], dims: number[]) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);

export async function onnxDecoding(c: ModelConfig, weights: TensorMap, device: 'webgpu' | 'wasm'): Promise<DecodePeer> {
  ort.env.logLevel = 'error';
  const layers = Array.from({ length: c.num_hidden_layers }, (_, layer) => layer);
  const caches = layers.flatMap((layer) => [`${layer}.key`, `${layer}.value`]);
  const session = await ort.InferenceSession.create(onnxFile(onnxDecoder(c, weights)), {
    executionProviders: [device],
    ...(device === 'webgpu' && {
      preferredOutputLocation: Object.fromEntries(caches.map((name) => [`present.${name}`, 'gpu-buffer' as const])),
    }),
  });
  return {
    name: `onnxruntime-web ${device}`,
    async decode(prompts, steps) {
      const batch = prompts.length;
      const completions = prompts.map((): number[] => []);
      let ids = prompts;
      let past: Record<string, ort.Tensor> = Object.fromEntries(
        caches.map((name) => [
          `past_key_values.${name}`,
          new ort.Tensor('float32', new Float32Array(0), [batch, c.num_key_value_heads, 0, c.head_dim]),
        ]),
      );
      for (let length = 0; length < steps; length++) {
        const outputs = await session.run({
          input_ids: int64(ids, [batch, 1]),
          attention_mask: int64(new Array<number>(batch * (length + 1)).fill(1), [batch, length + 1]),
          position_ids: int64(new Array<number>(batch).fill(length), [batch, 1]),
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
        past = Object.fromEntries(caches.map((name) => [`past_key_values.${name}`, outputs[`present.${name}`]!]));
      }
      for (const tensor of Object.values(past)) tensor.dispose();
      return completions;
    },
    dispose: () => session.release(),
  };
}
