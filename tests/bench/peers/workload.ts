/** @file The work of every engine: the same Qwen3 decoder, weights, batches and optimizer. Also counts the operations. */
import type { ModelConfig } from '../../../src/records/model.ts';
import { benchModels } from '../../../src/bench/workloads.ts';
import { hash32 } from '../../../src/base/random.ts';

/** The model `nano` of `mua bench`: vocabulary 2,048, width 128, 4 layers, 4 heads, SwiGLU 384, tied head. */
export const MODEL: ModelConfig = { ...benchModels(true)[0]!.config, rope_theta: 10_000, max_position_embeddings: 512 };

/** The decoding comparison shares keys and values between two heads, as agents' models do. */
export const DECODE_MODEL: ModelConfig = { ...MODEL, num_key_value_heads: 2 };

/** Number of sequences of a step, and of tokens that each of them trains. */
export interface BatchShape {
  batch: number;
  length: number;
}

export const SHAPE: BatchShape = { batch: 8, length: 256 };
export const ADAM = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8 };

export interface TrainingPeer {
  name: string;
  /** One step (forward, backward, Adam) on sequences of `length` + 1 tokens; returns the mean loss before it. */
  step(batch: Int32Array[]): Promise<number>;
  dispose(): void;
}

export interface MatmulPeer {
  name: string;
  /** Computes x·W `times` times and waits for the end. */
  run(times: number): Promise<void>;
  dispose(): void;
}

export interface DecodePeer {
  name: string;
  /** Greedy continuations of one-token prompts, all in one batch: `steps` new tokens each. */
  decode(prompts: number[], steps: number): Promise<number[][]>;
  dispose(): Promise<void> | void;
}

/** Sequences that a model can learn: most tokens are determined by the token before. */
export function batchOf(step: number, vocab: number, { batch, length }: BatchShape): Int32Array[] {
  return Array.from({ length: batch }, (_, b) => {
    const tokens = new Int32Array(length + 1);
    for (let t = 0; t <= length; t++) {
      const random = hash32(step * batch + b, t);
      tokens[t] = t > 0 && random % 5 > 0 ? (tokens[t - 1]! * 7 + 3) % vocab : (random >>> 8) % vocab;
    }
    return tokens;
  });
}

/** The floating-point operations of forward and backward: 6 for each weight and token. Attention counts only the lower triangle. */
export function stepFlops(): number {
  const { hidden_size: d, intermediate_size: f, num_hidden_layers: layers, vocab_size: v } = MODEL;
  const weights = layers * (4 * d * d + 3 * d * f) + v * d;
  const attention = layers * 2 * d * SHAPE.length;
  return 6 * SHAPE.batch * SHAPE.length * (weights + attention / 2);
}
