/** How many tokens a training micro-batch holds, and which layers keep their activations. */
import { GpuOutOfMemoryError } from './device.ts';
import type { GpuLimits } from './gpu.ts';
import { activationWidths, widths } from './layer.ts';
import { TERMS_PER_TOKEN } from './packing.ts';
import type { ModelConfig } from './types.ts';

export interface TrainingSizes {
  /** Tokens of a micro-batch; a multiple of 64. */
  capacity: number;
  /**
   * The number of first layers that share one set of activations, at least 1. The last of these layers leaves its activations in the
   * set for the backward pass. The backward pass computes the other layers again from their inputs.
   */
  sharing: number;
}

/**
 * The most tokens of a micro-batch whose tensors each fit into one binding; a multiple of 64.
 * @param loraWidth width of LoRA's `down` in floats per token
 */
export function boundTokens(config: ModelConfig, loraWidth: number, limits: GpuLimits): number {
  // The loss inputs of a token are four floats for each of its terms.
  const widest = Math.max(...Object.values(activationWidths(config)), 4 * TERMS_PER_TOKEN, loraWidth);
  const bytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  return Math.floor(bytes / (4 * widest) / 64) * 64;
}

/** Bytes that training needs per token for activations and their gradients. */
export function trainingBytesPerToken(config: ModelConfig, sharing: number): number {
  const one = Object.values(activationWidths(config)).reduce((a, b) => a + b, 0);
  const { hidden } = widths(config);
  const layers = config.num_hidden_layers;
  const saved = layers * hidden + (layers - sharing + 1) * (one + hidden);
  return 4 * (saved + one + 6 * hidden + 16);
}

/** A micro-batch with fewer tokens leaves a part of the GPU idle. Computing layers again in the backward pass costs less than that. */
const ENOUGH_TOKENS = 1024;

/**
 * Chooses the sizes of a micro-batch whose activations fit into `budget` bytes. It has at most `most` tokens, but always room for one
 * sequence of `longest` tokens. As few layers as possible are computed again. `bound` is the result of `boundTokens`.
 * @throws GpuOutOfMemoryError if a sequence of `longest` tokens does not fit into the bindings
 */
export function trainingSizes(
  config: ModelConfig,
  { longest, most: wish, budget, bound }: { longest: number; most: number; budget: number; bound: number },
): TrainingSizes {
  if (longest > bound)
    throw new GpuOutOfMemoryError(
      `training on sequences of ${longest} tokens needs a larger binding than this GPU allows (maxStorageBufferBindingSize): lower max_model_len to at most ${bound}`,
    );
  const most = Math.min(wish, bound);
  const fits = (sharing: number): number => Math.floor(budget / trainingBytesPerToken(config, sharing));
  const layers = config.num_hidden_layers;
  const wanted = Math.max(longest, Math.min(most, ENOUGH_TOKENS));
  const sharing = Array.from({ length: layers }, (_, i) => i + 1).find((count) => fits(count) >= wanted) ?? layers;
  const capacity = Math.max(longest, Math.min(most, fits(sharing)));
  return { capacity: Math.ceil(capacity / 64) * 64, sharing };
}
