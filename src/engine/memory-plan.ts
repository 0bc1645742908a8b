/**
 * Computes how much GPU memory an engine will need, before the engine allocates anything. The plan runs the engine's allocation code on a
 * fake device that only counts bytes. So the plan and the engine always agree.
 */
import { type EngineSizes, engineAllocations } from './engine-allocations.ts';
import { Gpu, type GpuLimits } from './gpu.ts';
import type { GpuInfo } from './device.ts';
import type { ModelConfig } from './types.ts';

export interface MemoryPlan {
  /** Bytes of the frozen and trained weights, and of adapters. */
  weights: number;
  /** Bytes of the KV cache and the other buffers of the sampler. */
  sampler: number;
  /** Bytes of activations, their gradients and logits. */
  training: number;
  /** Bytes of the weights' gradients and of AdamW's moments. */
  optimizer: number;
  /** Bytes of the copy of the trained weights for the KL loss. 0 if the reference is the model without adapters. */
  reference: number;
  /** Number of layers whose activations are computed again in the backward pass, because memory cannot hold them all. */
  recomputed_layers: number;
  /** True if generation and training take turns. Then only one of `sampler` and `training` is allocated at a time. */
  take_turns: boolean;
  /** The most bytes that are allocated at one time. */
  total: number;
}

export interface PlanOptions extends EngineSizes {
  /** Count the optimizer and the buffers of the backward pass. Default true. */
  train?: boolean;
  /** Count a copy of the trained weights for the KL loss. */
  reference?: boolean;
}

const ANY_LOSS = { name: 'plan', wgsl: '', settings: [] };

/**
 * Counts the bytes of all buffers, except the staging buffers that read results back. Training is planned for sequences of `maxModelLen`
 * tokens. An engine allocates less for shorter ones.
 * @throws GpuOutOfMemoryError naming the length or the buffer that this GPU cannot hold or bind; RangeError naming an option
 */
export function planMemory(
  { info, limits }: { info: GpuInfo; limits: GpuLimits },
  config: ModelConfig,
  { train = true, reference = false, ...sizes }: PlanOptions,
): MemoryPlan {
  const gpu = Gpu.counting(info, limits);
  const allocations = engineAllocations(gpu, config, sizes);
  let before = 0;
  const counted = (): number => {
    const bytes = gpu.bytesAllocated - before;
    before = gpu.bytesAllocated;
    return bytes;
  };
  const built = allocations.model();
  const plan: MemoryPlan = {
    weights: counted(),
    sampler: 0,
    training: 0,
    optimizer: 0,
    reference: 0,
    recomputed_layers: 0,
    take_turns: allocations.takeTurns,
    total: 0,
  };
  allocations.decode(built);
  plan.sampler = counted();
  const longest = allocations.trainingSizes(allocations.maxModelLen);
  plan.recomputed_layers = longest.sharing - 1;
  const program = allocations.training(built, longest);
  program.scoring(built.model.views);
  plan.training = counted();
  const { trained } = allocations.plan;
  if (train && trained) {
    const optimizer = allocations.optimizer(trained, built.model.arena!);
    plan.optimizer = counted();
    program.training(built.model.views, allocations.plan.gradientViews(optimizer.gradients), ANY_LOSS);
    plan.training += counted();
  }
  if (reference && trained) {
    allocations.reference(built, trained, true);
    plan.reference = counted();
  }
  return { ...plan, total: gpu.bytesAllocated - (allocations.takeTurns ? Math.min(plan.sampler, plan.training) : 0) };
}
