/** Builds every program of a model on a device that only counts, so that tests can look at all dispatches and kernels. */
import { engineAllocations, type EngineSizes } from '../../src/engine/engine-allocations.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import type { Dispatch } from '../../src/engine/kernel.ts';
import type { Counts } from '../../src/engine/rows.ts';
import type { ModelConfig } from '../../src/engine/types.ts';
import { vi } from 'vitest';

export interface Device {
  software: boolean;
  subgroupSize: number;
}

export function countingGpu(device: Device): Gpu {
  // These constants are those of a browser.
  vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
  vi.stubGlobal('GPUShaderStage', { COMPUTE: 4 });
  const limits = { maxBufferSize: 2 ** 32, maxStorageBufferBindingSize: 2 ** 32 };
  const gpu = Gpu.counting({ vendor: '', architecture: '', description: '', ...device }, limits);
  const encoder = { copyBufferToBuffer: () => {}, finish: () => ({}) };
  Object.assign(gpu.device, { createCommandEncoder: () => encoder });
  Object.assign(gpu.device.queue, { submit: () => {} });
  gpu.read = async () => new ArrayBuffer(16);
  return gpu;
}

/**
 * Calls `run` with each program and the counts of a full run: prefill, decoding, scoring, training and AdamW. Returns how many tokens
 * a training run holds.
 */
export async function eachProgram(
  gpu: Gpu,
  config: ModelConfig,
  sizes: EngineSizes,
  run: (program: readonly Dispatch[], counts: Counts) => void = () => {},
): Promise<number> {
  gpu.run = run;
  const allocations = engineAllocations(gpu, config, sizes);
  const { maxModelLen } = allocations;
  const built = allocations.model();
  const decode = allocations.decode(built);
  const params = { seed: 1, stream: 1, temperature: 1, topP: 1, topK: 0 } as never;
  decode.prefill(
    Array.from({ length: decode.sizes.prefillTokens }, (_, i) => ({ token: 1, position: maxModelLen - 1 - (i % 2), slot: 0 })),
    [],
  );
  decode.decode(
    Array.from({ length: decode.sizes.slots }, (_, slot) => ({ token: 1, position: maxModelLen - 1, slot, params })),
    decode.sizes.steps,
  );
  const program = allocations.training(built, allocations.trainingSizes(maxModelLen));
  const counts = { tokens: program.sizes.capacity, rows: program.sizes.capacity };
  gpu.run(program.scoring(built.model.views, 8), counts);
  const { trained } = allocations.plan;
  const optimizer = allocations.optimizer(trained!, built.model.arena!);
  gpu.run(
    program.training(built.model.views, allocations.plan.gradientViews(optimizer.gradients), { name: 'any', wgsl: '', settings: [] }),
    counts,
  );
  await optimizer.step({ lr: 1, beta1: 0.9, beta2: 0.9, eps: 1e-8, weight_decay: 0, grad_clip: 1 });
  return program.sizes.capacity;
}
