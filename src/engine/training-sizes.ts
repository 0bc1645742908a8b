/** How many tokens a training micro-batch holds, and which layers keep their activations. */
import { activationWidths, widths } from './layer.ts';
import type { ModelConfig } from './types.ts';

export interface TrainingSizes {
  /** Tokens of a micro-batch; a multiple of 64. */
  capacity: number;
  /**
   * This many of the first layers share one set of activations, at least 1. The last of them leaves its own for the backward
   * pass; the others are computed again from their inputs.
   */
  sharing: number;
  /** Tokens of the longest sequence. */
  longest: number;
}

/** Bytes of activations and their gradients per token in training. */
export function trainingBytesPerToken(config: ModelConfig, sharing: number): number {
  const one = Object.values(activationWidths(config)).reduce((a, b) => a + b, 0);
  const { hidden } = widths(config);
  const layers = config.num_hidden_layers;
  const saved = layers * hidden + (layers - sharing + 1) * (one + hidden);
  return 4 * (saved + one + 6 * hidden + 16);
}

/** A micro-batch of fewer tokens leaves a GPU idle; then computing layers again costs less. */
const ENOUGH_TOKENS = 1024;

/**
 * The micro-batch that fits into `budget` bytes of activations: at most `most` tokens, but always one sequence of `longest`
 * tokens. As few layers as possible are computed again.
 */
export function trainingSizes(config: ModelConfig, longest: number, most: number, budget: number): TrainingSizes {
  const fits = (sharing: number): number => Math.floor(budget / trainingBytesPerToken(config, sharing));
  const layers = config.num_hidden_layers;
  const wanted = Math.max(longest, Math.min(most, ENOUGH_TOKENS));
  const sharing = Array.from({ length: layers }, (_, i) => i + 1).find((count) => fits(count) >= wanted) ?? layers;
  const capacity = Math.max(longest, Math.min(most, fits(sharing)));
  return { capacity: Math.ceil(capacity / 64) * 64, sharing, longest };
}
