/** @file Counts the work of the engine's own programs. They are built on a device that only counts. */
import { type EngineSizes, engineAllocations } from '../engine/engine-allocations.ts';
import { type Dispatch, Gpu } from '../engine/gpu.ts';
import type { Counts } from '../engine/rows.ts';
import type { ModelConfig } from '../engine/types.ts';
import { PAPER } from '../training/defaults.ts';
import { grpoLoss } from '../training/grpo-loss.ts';

export interface Counted {
  /** Operations of matmuls. */
  operations: number;
  dispatches: number;
}

const count = (program: readonly Dispatch[], counts: Counts): Counted => {
  const active = program.filter(({ workgroups }) => workgroups(counts).every((groups) => groups !== 0));
  const matmuls = active.filter(({ label, work }) => work && !label.includes('attention'));
  return { operations: matmuls.reduce((sum, { work }) => sum + work!(counts), 0), dispatches: active.length };
};

/** Builds the engine's programs for a GPU, without a GPU, and counts their work. @throws as `engineAllocations` */
export function countedWork(config: ModelConfig, sizes: EngineSizes) {
  // Node has no WebGPU, so it lacks the names of flags.
  for (const name of ['GPUBufferUsage', 'GPUShaderStage']) if (!(name in globalThis)) Object.assign(globalThis, { [name]: {} });
  const info = { vendor: '', architecture: '', description: '', software: false, subgroupSize: 32 };
  // Work is counted for any GPU. Whether the buffers fit into one is for the memory plan to say.
  const gpu = Gpu.counting(info, { maxBufferSize: Infinity, maxStorageBufferBindingSize: Infinity });
  const nothing = (): void => {};
  const encoder = { copyBufferToBuffer: nothing, finish: nothing };
  Object.assign(gpu.device, { createCommandEncoder: () => encoder });
  Object.assign(gpu.device.queue, { submit: nothing });
  let last: Counted = { operations: 0, dispatches: 0 };
  gpu.run = (program, counts) => void (last = count(program, counts));
  const allocations = engineAllocations(gpu, config, sizes);
  const built = allocations.model();
  const decode = allocations.decode(built);
  const training = allocations.training(built, allocations.trainingSizes(allocations.maxModelLen));
  const { trained } = allocations.plan;
  const optimizer = allocations.optimizer(trained!, built.model.arena!);
  const scoring = training.scoring(built.model.views);
  const update = training.training(built.model.views, allocations.plan.gradientViews(optimizer.gradients), grpoLoss(PAPER));
  const params = { temperature: 1, topP: 1, topK: 0, seed: 1, stream: 0 };
  const row = { token: 0, position: 0, slot: 0, params };
  const { capacity } = training.sizes;
  const rows = (share: number): Counts => ({ tokens: capacity, rows: Math.round(share * capacity) });
  return {
    capacity,
    prefill(tokens: number): Counted {
      decode.prefill(
        Array.from({ length: tokens }, () => row),
        [{ index: tokens - 1, params }],
      );
      return last;
    },
    decode(sequences: number): Counted {
      decode.decode(
        Array.from({ length: sequences }, () => row),
        1,
      );
      return last;
    },
    /** @param share the share of tokens that the LM head sees */
    scoring: (share: number) => count(scoring, rows(share)),
    update: (share: number) => count(update, rows(share)),
  };
}
