/** The engine's interface for the rest of the product: tokens in, tokens and numbers out. No GPU type appears here. */
import type { ModelConfig } from '../records/model.ts';

export type { ModelConfig };

/** Row-major f32 tensors under Hugging Face names, e.g. `model.layers.0.self_attn.q_proj.weight` [out, in]. */
export type TensorMap = Map<string, { shape: number[]; data: Float32Array }>;

export type LoraTarget = 'q_proj' | 'k_proj' | 'v_proj' | 'o_proj' | 'gate_proj' | 'up_proj' | 'down_proj';

export interface LoraOptions {
  /** PEFT's r. Tensors of the engine have the next multiple of 4: what is added is zero, and training keeps it zero. */
  rank: number;
  /** lora_alpha / r. */
  scale: number;
  targets: readonly LoraTarget[];
}

/** Tensors that are read in pieces, so that a large model is never in JavaScript's memory as a whole. */
export interface WeightSource {
  /** By Hugging Face name. */
  readonly tensors: ReadonlyMap<string, { dtype: 'F32' | 'F16' | 'BF16'; shape: readonly number[] }>;
  /** `bytes` of the tensor's data from byte `from`. */
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
}

export interface Generation {
  tokens: number[];
  /** Natural log-probability of each token under softmax(logits / temperature), before top-p/top-k (temperature 1 when greedy). */
  logprobs: number[];
  /** `context_full`: the sequence reached `maxModelLen`. */
  finishReason: 'stop' | 'length' | 'context_full';
}

/** A sequence in the KV cache. `length` counts all tokens that were appended or sampled so far. */
export interface Sequence {
  readonly id: number;
  readonly length: number;
  /** The tokens that a call of `generate` under way has sampled so far. Absent between calls. */
  readonly sampling?: readonly number[] | undefined;
}

/**
 * Batched generation with a KV cache and continuous batching. Many sequences may generate at once; the sampler computes
 * them together. A sequence that waits for a tool or a user costs no compute.
 */
export interface Sampler {
  readonly maxModelLen: number;
  /**
   * A new empty sequence. Its samples depend only on (`seed`, `stream`, position, weights, tokens before), never on the rest
   * of the batch. Waits while all slots are taken.
   */
  open(options: { seed: number; stream: number }): Promise<Sequence>;
  /** Appends known tokens (prompt, tool result, user message). The next `generate` computes them. Sequences share equal prefixes. */
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
  /** Weight of each masked token in the loss (1 / token count for a token mean): one number, or one per token. */
  weight: number | ArrayLike<number>;
  /** Up to three per-token inputs of the loss, see TokenLoss; e.g. advantage, old log-prob, reference log-prob. */
  inputs?: readonly (number | ArrayLike<number>)[];
}

/**
 * A loss over tokens, L = Σ weight · f(logprob, entropy, inputs). The engine knows only its derivative, as WGSL:
 * `fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f`
 * returning (∂f/∂logprob, ∂f/∂entropy).
 */
export interface TokenLoss {
  name: string;
  wgsl: string;
  settings: readonly number[];
}

/** Per sequence, one entry per token: natural log-probability, and entropy in nats. Entry 0 and unmasked tokens are 0. */
export interface Scores {
  logprobs: Float32Array[];
  entropies: Float32Array[];
  /** The likeliest tokens at each position, likeliest first, if `topLogprobs` was given. */
  top?: TopTokens[];
}

/** `k` entries per token of a sequence: entry t·k + i belongs to token t. Unmasked tokens are 0. */
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
  /** Decoupled. Not applied to norms and biases, unless `decay_all_parameters`. */
  weight_decay: number;
  decay_all_parameters?: boolean;
  /** Global-norm clip; 0 is off. */
  grad_clip: number;
}

export interface ScoreOptions {
  temperature?: number;
  weights?: 'trained' | 'reference';
  topLogprobs?: number;
  signal?: AbortSignal;
}

/** Training and scoring on the same weights and kernels as the sampler. */
export interface Learner {
  /**
   * Log-probability and entropy of softmax(logits / temperature) at masked tokens, under the trained weights or the reference.
   * `topLogprobs`: also this number of likeliest tokens.
   */
  score(sequences: readonly TrainSequence[], options?: ScoreOptions): Promise<Scores>;
  /**
   * Adds the gradient of the loss over `sequences` to the gradient buffers, in micro-batches that fit into memory.
   * If it fails or is aborted, all accumulated gradients are cleared: `step` refuses until a later `accumulate` succeeds.
   */
  accumulate(
    sequences: readonly TrainSequence[],
    loss: TokenLoss,
    options?: { temperature?: number; signal?: AbortSignal },
  ): Promise<Scores>;
  /**
   * AdamW with the accumulated gradients; then clears them. Returns the global gradient norm before clipping.
   * If the norm is not finite, weights and moments stay as they are.
   * @throws Error if the last `accumulate` failed
   */
  step(params: AdamWParams): Promise<{ gradNorm: number }>;
  /** The accumulated gradients, under Hugging Face names. */
  gradients(): Promise<TensorMap>;
  zeroGradients(): void;
  /** Copies the trained weights into the reference. The first call allocates it. @throws GpuOutOfMemoryError */
  snapshotReference(): Promise<void>;
}

export interface Engine extends Learner {
  readonly config: ModelConfig;
  readonly sampler: Sampler;
  /** The trained weights: the adapters under PEFT's names if the engine has LoRA, else all weights. @throws Error if nothing is trained */
  weights(): Promise<TensorMap>;
  /**
   * Replaces the trained weights; the reference and the optimizer stay as they are. The sampler computes its cache again.
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
