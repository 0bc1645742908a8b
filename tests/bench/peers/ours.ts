/** @file This engine, for the comparison. */
import { createEngine } from '../../../src/engine/engine.ts';
import type { Gpu } from '../../../src/engine/gpu.ts';
import { matmul } from '../../../src/engine/kernels/matmul.ts';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { LoraOptions, TensorMap } from '../../../src/engine/types.ts';
import { sftLoss } from '../../../src/training/grpo-loss.ts';
import { ADAM, type BatchShape, type DecodePeer, type MatmulPeer, type TrainingPeer } from './workload.ts';

export async function ourMatmul(gpu: Gpu, m: number, k: number, n: number): Promise<MatmulPeer> {
  const counts = gpu.uniform('counts', [m, 0, 0, 0]);
  const [a, b, c] = [gpu.buffer('a', m * k * 4), gpu.buffer('b', n * k * 4), gpu.buffer('c', m * n * 4)];
  const once = matmul(gpu, { a, b, c, counts }, { form: 'nt', rows: { of: 'tokens' }, n, k });
  await gpu.ready();
  return {
    name: 'ours',
    async run(times) {
      gpu.run(Array.from({ length: times }, () => once).flat(), { tokens: m, rows: 0 });
      await gpu.device.queue.onSubmittedWorkDone();
    },
    dispose: () => [counts, a, b, c].forEach((view) => gpu.destroyBuffer(view)),
  };
}

/** Trains adapters if `lora` is given, else all weights. `trained` returns the values that are trained. */
export async function ourTraining(
  gpu: Gpu,
  config: ModelConfig,
  weights: TensorMap,
  { batch: sequences, length }: BatchShape,
  lora?: LoraOptions,
): Promise<TrainingPeer & { trained(): Promise<TensorMap> }> {
  const engine = await createEngine(gpu, config, weights, { maxModelLen: length + 1, slots: 1, ...(lora && { lora }) });
  const weight = 1 / (sequences * length);
  const lossMask = Array.from({ length: length + 1 }, (_, t) => (t === 0 ? 0 : 1));
  return {
    name: 'ours',
    async step(batch) {
      const { logprobs } = await engine.accumulate(
        batch.map((tokens) => ({ tokens, lossMask, weight })),
        sftLoss,
      );
      await engine.step({ ...ADAM, weight_decay: 0, grad_clip: 0 });
      return -weight * logprobs.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0);
    },
    trained: () => engine.weights(),
    dispose: () => engine.destroy(),
  };
}

export async function ourDecoding(
  gpu: Gpu,
  config: ModelConfig,
  weights: TensorMap,
  slots: number,
  maxModelLen: number,
): Promise<DecodePeer> {
  const engine = await createEngine(gpu, config, weights, { maxModelLen, slots });
  const { sampler } = engine;
  return {
    name: 'ours',
    decode: (prompts, steps) =>
      Promise.all(
        prompts.map(async (prompt, stream) => {
          const sequence = await sampler.open({ seed: 1, stream });
          sampler.append(sequence, [prompt]);
          const { tokens } = await sampler.generate(sequence, { maxNewTokens: steps, temperature: 0, stopTokenIds: [] });
          sampler.close(sequence);
          return tokens;
        }),
      ),
    dispose: () => engine.destroy(),
  };
}
