/** How many tokens a training micro-batch holds. */
import { activationWidths, widths } from './layer.ts';
import type { ModelConfig } from './types.ts';

export interface TrainingSizes {
  /** Tokens of a micro-batch; a multiple of 64. */
  capacity: number;
  /** Keep only the input of each layer and compute its activations again in the backward pass. */
  recompute: boolean;
  /** Tokens of the longest sequence. */
  longest: number;
}

/** Bytes of activations per token in training. */
function trainingBytesPerToken(config: ModelConfig, recompute: boolean): number {
  const one = Object.values(activationWidths(config)).reduce((a, b) => a + b, 0);
  const { hidden } = widths(config);
  const layers = config.num_hidden_layers;
  const saved = recompute ? layers * hidden + one + hidden : layers * (one + 2 * hidden);
  return 4 * (saved + one + 6 * hidden + 16);
}

/** The micro-batch that fits into `budget` bytes of activations: at most `most` tokens, but always one sequence of `longest` tokens. */
export function trainingSizes(config: ModelConfig, longest: number, most: number, budget: number): TrainingSizes {
  const fits = (recompute: boolean): number => Math.floor(budget / trainingBytesPerToken(config, recompute));
  const recompute = fits(false) < longest;
  const capacity = Math.max(longest, Math.min(most, fits(recompute)));
  return { capacity: Math.ceil(capacity / 64) * 64, recompute, longest };
}
