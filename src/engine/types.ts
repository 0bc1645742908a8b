/** The engine's interface for the rest of the product. It takes tokens, and returns tokens and numbers. It uses no GPU types. */
import type { ModelConfig } from '../records/model.ts';

export type { ModelConfig };

/** Row-major f32 tensors under Hugging Face names, e.g. `model.layers.0.self_attn.q_proj.weight` [out, in]. */
export type TensorMap = Map<string, { shape: number[]; data: Float32Array }>;

export type LoraTarget = 'q_proj' | 'k_proj' | 'v_proj' | 'o_proj' | 'gate_proj' | 'up_proj' | 'down_proj';

export interface LoraOptions {
  /** PEFT's r. The engine pads its tensors to the next multiple of 4. The padding is zero, and training keeps it zero. */
  rank: number;
  /** lora_alpha / r. */
  scale: number;
  targets: readonly LoraTarget[];
}

/** Tensors that are read in pieces, so that a large model is never in JavaScript's memory as a whole. */
export interface WeightSource {
  /** Hugging Face name → dtype and shape. */
  readonly tensors: ReadonlyMap<string, { dtype: 'F32' | 'F16' | 'BF16'; shape: readonly number[] }>;
  /** Reads `bytes` bytes of the tensor's data, from byte `from`. */
  read(name: string, from: number, bytes: number): Promise<Uint8Array> | Uint8Array;
}

/** How one generation call samples (Hugging Face names). `temperature` 0 is greedy. `topP` 1 and `topK` 0 are off. */
export interface SamplingParams {
  maxNewTokens: number;
  temperature: number;
  topP?: number;
  topK?: number;
  /** Sampling one of these tokens ends the call. The token is part of the result. */
  stopTokenIds: readonly number[];
  /** Gets all tokens of the call after each one. If it returns true, the last token ends the call. The token is part of the result. */
  stop?: (tokens: readonly number[]) => boolean;
}

export interface Generation {
  tokens: number[];
  /** Natural log-probability of each token under softmax(logits / temperature), before top-p/top-k (temperature 1 when greedy). */
  logprobs: number[];
  /** `stop`: a stop token was sampled, or `stop` returned true; `length`: `maxNewTokens` is reached; `context_full`: the sequence reached `maxModelLen`. */
  finishReason: 'stop' | 'length' | 'context_full';
}

/** A sequence in the KV cache. `length` counts all tokens that were appended or sampled so far. */
export interface Sequence {
  readonly id: number;
  readonly length: number;
  /** The tokens that the current call of `generate` has sampled so far. Absent between calls. */
  readonly sampling?: readonly number[] | undefined;
}

/**
 * Batched generation with a KV cache and continuous batching. Many sequences may generate at once; the sampler computes
 * them together. A sequence that waits for a tool or a user costs no compute.
 */
export interface Sampler {
  readonly maxModelLen: number;
  /**
   * Opens an empty sequence. Waits while all slots are taken. A sample depends only on `seed`, `stream`, its position, the weights and
   * the tokens before it, never on the rest of the batch.
   */
  open(options: { seed: number; stream: number }): Promise<Sequence>;
  /** Appends known tokens (prompt, tool result, user message). `generate` computes them. Sequences share the pages of equal prefixes. */
  append(sequence: Sequence, tokens: ArrayLike<number>): void;
  generate(sequence: Sequence, params: SamplingParams, signal?: AbortSignal): Promise<Generation>;
  /** Frees the slot. */
  close(sequence: Sequence): void;
}

/** One sequence of a training batch. Entry t of each array belongs to token t; entry 0 is unused. */
export interface TrainSequence {
  tokens: ArrayLike<number>;
  /** 1 for tokens that are trained on, else 0. */
  lossMask: ArrayLike<number>;
  /** Weight of each token in the loss (1 / token count for a token mean): one number for all tokens, or one per token. */
  weight: number | ArrayLike<number>;
  /** Up to three per-token inputs of the TokenLoss, e.g. advantage, old log-prob and reference log-prob. */
  inputs?: readonly (number | ArrayLike<number>)[];
}

/**
 * A loss over tokens, L = Σ weight · f(logprob, entropy, inputs). `wgsl` is the source of a WGSL function that returns the derivative
 * (∂f/∂logprob, ∂f/∂entropy):
 * `fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f`
 */
export interface TokenLoss {
  name: string;
  wgsl: string;
  settings: readonly number[];
}

/** Each sequence has one array with an entry per token: its log-probability or entropy, in nats. Entries of tokens without a loss are 0. */
export interface Scores {
  logprobs: Float32Array[];
  entropies: Float32Array[];
  /** The likeliest tokens at each position, likeliest first, if `topLogprobs` was given. */
  top?: TopTokens[];
}

/** The `k` likeliest tokens at each token of a sequence. Entries t·k … t·k + k - 1 belong to token t; they are 0 if it has no loss. */
export interface TopTokens {
  k: number;
  ids: Uint32Array;
  logprobs: Float32Array;
}

export interface AdamWParams {
  lr: number;
  beta1: number;
  beta2: number;
  eps: number;
  /** Decoupled weight decay. It does not apply to norms and biases, unless `decay_all_parameters` is true. */
  weight_decay: number;
  decay_all_parameters?: boolean;
  /** The maximum global norm of the gradient; 0 turns clipping off. */
  grad_clip: number;
}

export interface ScoreOptions {
  temperature?: number;
  weights?: 'trained' | 'reference';
  topLogprobs?: number;
  signal?: AbortSignal;
}

/** Trains and scores with the same weights and kernels as the sampler. */
export interface Learner {
  /**
   * Returns the log-probability and entropy of softmax(logits / temperature) at the tokens with a loss, under the trained weights or the
   * reference. With `topLogprobs` k it also returns the k likeliest tokens.
   */
  score(sequences: readonly TrainSequence[], options?: ScoreOptions): Promise<Scores>;
  /**
   * Adds the gradient of the loss over `sequences` to the gradient buffers, in micro-batches that fit into memory.
   * If the call fails or is aborted, all accumulated gradients are cleared, and `step` throws until a later `accumulate` succeeds.
   */
  accumulate(
    sequences: readonly TrainSequence[],
    loss: TokenLoss,
    options?: { temperature?: number; signal?: AbortSignal },
  ): Promise<Scores>;
  /**
   * Makes an AdamW step with the accumulated gradients, and clears them. Returns the global gradient norm before clipping.
   * If the norm is not finite, weights and moments stay as they are.
   * @throws Error if the last `accumulate` failed
   */
  step(params: AdamWParams): Promise<{ gradNorm: number }>;
  /** The accumulated gradients, under Hugging Face names. */
  gradients(): Promise<TensorMap>;
  zeroGradients(): void;
  /** Copies the trained weights into the reference. The first call allocates the reference. @throws GpuOutOfMemoryError */
  snapshotReference(): Promise<void>;
}

export interface Engine extends Learner {
  readonly config: ModelConfig;
  readonly sampler: Sampler;
  /** The trained weights: the adapters under PEFT's names if the engine has LoRA, else all weights. @throws Error if nothing is trained */
  weights(): Promise<TensorMap>;
  /**
   * Replaces the trained weights. The reference and the optimizer stay as they are. The sampler forgets its KV cache.
   * @throws Error that names tensors that do not fit
   */
  loadWeights(weights: TensorMap): void;
  /** First and second moments and the step count. With `weights()`, a run can be resumed from them. */
  optimizerState(): Promise<{ step: number; m: TensorMap; v: TensorMap }>;
  /** @throws GpuOutOfMemoryError; Error that names tensors that do not fit */
  loadOptimizerState(state: { step: number; m: TensorMap; v: TensorMap }): Promise<void>;
  /** Number of prompt tokens that the sampler has computed so far. A shared token counts once. */
  readonly tokensPrefilled: number;
  /** Frees all buffers. Later calls, and calls in progress, fail with an Error. */
  destroy(): void;
}
