/**
 * @file The workloads of the bench, and how much work each of them is.
 *
 * The operations are those of the model: a multiplication and an addition for each weight and token, and those of attention's lower
 * triangle. An operation that the engine repeats counts once. The bytes are the least that must move: those of
 * weights and optimizer state, and in decoding those of the KV cache. Activations do not count.
 */
import { storedBytes } from '../engine/kernels/weight-format.ts';
import { groupsOf, modelTensors } from '../engine/parameters.ts';
import { QWEN3_06B, SMOLLM2_135M } from '../training/pretrained.ts';
import type { ModelConfig, Precision } from '../records/model.ts';
import { InputError, shown } from '../base/input-error.ts';

export interface BenchModel {
  name: string;
  /** How the model is smaller than the real model with this name. '' if it is not smaller. */
  reduced: string;
  config: ModelConfig;
  precision: Precision;
  /** Rank of the LoRA adapters that are trained. 0 means that all weights are trained. */
  rank: number;
  /** Bytes of one number in the KV cache. */
  kvBytes: 2 | 4;
  train: { batch: number; length: number };
  prefill: number;
  /** For each sequence: `prompt` tokens before the measurement, and `tokens` measured tokens. */
  decode: { prompt: number; tokens: number };
  grpo?: GrpoShape;
}

/** A GRPO step. All conversations begin with the same prompt. */
export interface GrpoShape {
  tasks: number;
  /** Conversations of each task. */
  rollouts: number;
  /** Tokens of the prompt. */
  prompt: number;
  turns: number;
  /** Tokens that a conversation reads before each turn: what the customer says, or the result of a tool. */
  reads: number;
  /** Tokens that it samples in each turn. */
  writes: number;
  /** Milliseconds that a customer takes for an answer. Every second answer comes from a tool, which takes no time. */
  waitMs: number;
  /** Tokens that the KV cache holds. */
  kvTokens: number;
}

export const ADAMW = { lr: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0, grad_clip: 1 };

const MODELS = ['nano', 'smollm2-135m', 'qwen3-0.6b'] as const;
export const DECODE_BATCHES = [1, 8, 16, 64] as const;
export const WORKLOADS = MODELS.flatMap((model) => [
  `train-${model}`,
  `prefill-${model}`,
  ...DECODE_BATCHES.map((batch) => `decode-${model}-${batch}`),
  ...(model === 'nano' ? [] : [`grpo-${model}`]),
]);

/** The workloads with these names, in the order of the bench. An empty list means all. @throws InputError naming an unknown one */
export function chosenWorkloads(names: readonly string[]): string[] {
  const unknown = names.find((name) => !WORKLOADS.includes(name));
  if (unknown !== undefined) throw new InputError(`workload ${shown(unknown)}: expected names among ${WORKLOADS.join(', ')}`);
  return names.length === 0 ? [...WORKLOADS] : WORKLOADS.filter((name) => names.includes(name));
}

const QWEN3 = QWEN3_06B.config;

/** The models of the bench. A software GPU gets a smaller part of the large one. */
export function benchModels(software: boolean): BenchModel[] {
  const grpo = software
    ? { tasks: 2, rollouts: 2, prompt: 48, turns: 3, reads: 8, writes: 4, waitMs: 200, kvTokens: 160 }
    : { tasks: 8, rollouts: 8, prompt: 3000, turns: 9, reads: 152, writes: 42, waitMs: 1000, kvTokens: 32_768 };
  return [
    {
      // The comparison with other libraries (tests/bench/peers) uses this model too.
      name: 'nano',
      reduced: '',
      config: {
        ...QWEN3,
        vocab_size: 2048,
        hidden_size: 128,
        intermediate_size: 384,
        num_hidden_layers: 4,
        num_attention_heads: 4,
        num_key_value_heads: 4,
        head_dim: 32,
      },
      precision: 'f32',
      rank: 0,
      kvBytes: 4,
      train: { batch: 8, length: 256 },
      prefill: 512,
      decode: { prompt: 16, tokens: 32 },
    },
    {
      name: 'smollm2-135m',
      reduced: '',
      config: SMOLLM2_135M.config,
      precision: 'bf16',
      rank: 16,
      kvBytes: 2,
      train: software ? { batch: 2, length: 256 } : { batch: 4, length: 512 },
      prefill: software ? 256 : 512,
      decode: { prompt: 16, tokens: software ? 8 : 32 },
      grpo,
    },
    {
      name: 'qwen3-0.6b',
      reduced: software ? '2 of 28 layers, 8,192 of 151,936 words' : '',
      config: { ...QWEN3, ...(software && { vocab_size: 8192, num_hidden_layers: 2 }) },
      precision: 'bf16',
      rank: 16,
      kvBytes: 2,
      train: software ? { batch: 1, length: 128 } : { batch: 4, length: 512 },
      prefill: software ? 128 : 512,
      decode: { prompt: 16, tokens: software ? 8 : 32 },
      grpo,
    },
  ];
}

export interface Work {
  /** Tokens for which the workload exists: those trained on, prefilled or sampled. */
  tokens: number;
  /** Tokens that pass through the layers. A token counts once in each pass of generation, reference and update. */
  computed: number;
  flops: number;
  /** The bytes that must move at least. */
  bytes: number;
}

const sizes = ({ config: c, precision, rank }: BenchModel) => {
  const layer =
    c.hidden_size * c.head_dim * (2 * c.num_attention_heads + 2 * c.num_key_value_heads) + 3 * c.hidden_size * c.intermediate_size;
  const all = groupsOf(modelTensors(c)).flat();
  const count = all.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b), 0);
  const bytes = all.reduce((sum, { shape }) => {
    const { values, scales } = storedBytes(
      shape.length > 1 ? precision : 'f32',
      shape.reduce((a, b) => a * b),
    );
    return sum + values + scales;
  }, 0);
  const linear = [
    [c.hidden_size, c.num_attention_heads * c.head_dim, 2],
    [c.hidden_size, c.num_key_value_heads * c.head_dim, 2],
    [c.hidden_size, c.intermediate_size, 3],
  ] as const;
  return {
    layers: c.num_hidden_layers * layer,
    head: c.vocab_size * c.hidden_size,
    /** Operations on attention scores and values, for each pair of a query and a key that it sees. */
    pair: 4 * c.num_hidden_layers * c.num_attention_heads * c.head_dim,
    bytes,
    trained: rank === 0 ? count : c.num_hidden_layers * rank * linear.reduce((sum, [a, b, n]) => sum + n * (a + b), 0),
  };
};

/** One optimizer step: forward, backward and AdamW. With adapters, frozen matrices have no weight gradient. */
export function trainWork(model: BenchModel): Work {
  const { batch, length } = model.train;
  const { layers, head, pair, bytes, trained } = sizes(model);
  const tokens = batch * length;
  const passes = model.rank === 0 ? 6 : 4;
  const adapters = model.rank === 0 ? 0 : 6 * trained;
  return {
    tokens,
    computed: tokens,
    flops: tokens * (passes * (layers + head) + adapters) + (3 * pair * tokens * length) / 2,
    // Weights are read in the forward and the backward pass. For each trained value, the gradient is written and read, and the weight and
    // two moments are read and written.
    bytes: 2 * bytes + trained * 4 * 8,
  };
}

/** The tokens of one conversation of a GRPO step. */
export const grpoLength = ({ prompt, turns, reads, writes }: GrpoShape): number => prompt + turns * (reads + writes);

/** The tokens that must be prefilled: the prompt once, and for each turn what it reads and the last sample of the turn before. */
export const grpoPrefill = ({ tasks, rollouts, prompt, turns, reads }: GrpoShape): number =>
  prompt + tasks * rollouts * (turns * reads + turns - 1);

/** Sampling conversations, computing the reference's log-probabilities, and updating the adapters. The shared prompt counts once. */
export function grpoWork(model: BenchModel, shape: GrpoShape): Work {
  const { layers, head, pair, bytes, trained } = sizes(model);
  const { tasks, rollouts, prompt, turns, writes } = shape;
  const after = grpoLength(shape) - prompt;
  const tokens = tasks * rollouts * turns * writes;
  const all = prompt + tasks * rollouts * after;
  const seen = prompt ** 2 / 2 + tasks * rollouts * after * (prompt + after / 2);
  // Three forward passes (generation, reference, update), and one backward pass (update).
  return {
    tokens,
    computed: 3 * all,
    flops: all * (8 * layers + 6 * trained) + 8 * tokens * head + 5 * pair * seen,
    bytes: (turns * writes + 3) * bytes + trained * 4 * 8,
  };
}

/** Computing the prompt of one sequence, and its first new token. */
export function prefillWork(model: BenchModel): Work {
  const { layers, head, pair, bytes } = sizes(model);
  const tokens = model.prefill;
  return { tokens, computed: tokens, flops: 2 * (tokens * layers + head) + (pair * tokens * tokens) / 2, bytes };
}

export function decodeWork(model: BenchModel, batch: number): Work {
  const { layers, head, pair, bytes } = sizes(model);
  const { prompt, tokens: steps } = model.decode;
  const { num_hidden_layers, num_key_value_heads, head_dim } = model.config;
  // The number of tokens that a step sees, summed over the steps of one sequence.
  const seen = steps * (prompt + 1 + steps / 2);
  return {
    tokens: batch * steps,
    computed: batch * steps,
    flops: batch * (2 * steps * (layers + head) + pair * seen),
    bytes: steps * bytes + batch * seen * 2 * num_hidden_layers * num_key_value_heads * head_dim * model.kvBytes,
  };
}
