/** How many tokens a training micro-batch holds, and which layers keep their activations. */
import { activationWidths, widths } from './layer.ts';
import type { ModelConfig } from './types.ts';

export interface TrainingSizes {
  /** Tokens of a micro-batch; a multiple of 64. */
  capacity: number;
  /**
   * The number of first layers that share one set of activations, at least 1. The last of these layers leaves its activations in the
   * set for the backward pass. The backward pass computes the other layers again from their inputs.
   */
  sharing: number;
  /** Tokens of the longest sequence. */
  longest: number;
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
 * sequence of `longest` tokens. As few layers as possible are computed again.
 */
export function trainingSizes(config: ModelConfig, longest: number, most: number, budget: number): TrainingSizes {
  const fits = (sharing: number): number => Math.floor(budget / trainingBytesPerToken(config, sharing));
  const layers = config.num_hidden_layers;
  const wanted = Math.max(longest, Math.min(most, ENOUGH_TOKENS));
  const sharing = Array.from({ length: layers }, (_, i) => i + 1).find((count) => fits(count) >= wanted) ?? layers;
  const capacity = Math.max(longest, Math.min(most, fits(sharing)));
  return { capacity: Math.ceil(capacity / 64) * 64, sharing, longest };
}
