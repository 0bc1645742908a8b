/** What the rest of the product may know of the engine: tokens in, tokens and numbers out. No GPU type appears here. */

/** The fields of a Hugging Face `config.json` that the decoder uses (Qwen3ForCausalLM, Qwen2ForCausalLM). */
export interface ModelConfig {
  model_type: 'qwen3' | 'qwen2';
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim: number;
  rms_norm_eps: number;
  rope_theta: number;
  max_position_embeddings: number;
  tie_word_embeddings: boolean;
}

/** Row-major f32 tensors under Hugging Face names, e.g. `model.layers.0.self_attn.q_proj.weight` [out, in]. */
export type TensorMap = Map<string, { shape: number[]; data: Float32Array }>;

/** How one generation call samples (Hugging Face names). `temperature` 0 is greedy. `topP` 1 and `topK` 0 are off. */
export interface SamplingParams {
  maxNewTokens: number;
  temperature: number;
  topP?: number;
  topK?: number;
  /** Sampling one of these ends the call; it is part of the result. */
  stopTokenIds: readonly number[];
}

export interface Generation {
  tokens: number[];
  /** Natural log-probability of each token under softmax(logits / temperature), before top-p/top-k (temperature 1 when greedy). */
  logprobs: number[];
  /** `context_full`: the sequence reached `maxModelLen`. */
  finishReason: 'stop' | 'length' | 'context_full';
}

/** A sequence in the KV cache. `length` counts every token given or sampled so far. */
export interface Sequence {
  readonly id: number;
  readonly length: number;
}

/**
 * Batched generation with a KV cache and continuous batching. Calls of many sequences may be in flight at once; they
 * are served together. A sequence that waits for a tool or a user costs no compute.
 */
export interface Sampler {
  readonly maxModelLen: number;
  /**
   * A new empty sequence. Samples depend only on (`seed`, `stream`, position, weights, tokens before), never on what else
   * is in the batch. Waits while every slot is taken.
   */
  open(options: { seed: number; stream: number }): Promise<Sequence>;
  /** Appends known tokens (prompt, tool result, user turn). They are computed at the next `generate`. Equal prefixes are shared. */
  append(sequence: Sequence, tokens: ArrayLike<number>): void;
  generate(sequence: Sequence, params: SamplingParams, signal?: AbortSignal): Promise<Generation>;
  /** Frees the slot. */
  close(sequence: Sequence): void;
}

/** One sequence of a training batch. Entry t of the optional arrays is about token t; entry 0 is unused. */
export interface TrainSequence {
  tokens: ArrayLike<number>;
  /** 1 where the token is trained on. */
  lossMask: ArrayLike<number>;
  /** Weight of each masked token in the loss (1 / token count for a token mean); one number, or one a token. */
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

/** Per sequence, aligned to tokens (entry 0 unused and 0): natural log-probability and entropy in nats, at unmasked tokens 0. */
export interface Scores {
  logprobs: Float32Array[];
  entropies: Float32Array[];
  /** Where asked for: the likeliest tokens instead of each token, likeliest first. */
  top?: TopTokens[];
}

/** `k` entries a token of a sequence: entry t·k + i is about token t. At unmasked tokens 0. */
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
  /** Decoupled; not applied to norms and biases. */
  weight_decay: number;
  /** Global-norm clip; 0 is off. */
  grad_clip: number;
}

export interface ScoreOptions {
  temperature?: number;
  weights?: 'policy' | 'reference';
  topLogprobs?: number;
  signal?: AbortSignal;
}

/** Training and scoring on the same weights and kernels as the sampler. */
export interface Learner {
  /**
   * Log-prob and entropy at masked tokens, of softmax(logits / temperature), by the policy or the frozen reference.
   * `topLogprobs`: also the so many likeliest tokens.
   */
  score(sequences: readonly TrainSequence[], options?: ScoreOptions): Promise<Scores>;
  /** Adds the gradient of the loss over `sequences` to the gradient buffers; splits into micro-batches as memory demands. */
  accumulate(sequences: readonly TrainSequence[], loss: TokenLoss, options?: { temperature?: number; signal?: AbortSignal }): Promise<Scores>;
  /** AdamW on the accumulated gradients, which it then clears. Returns the global gradient norm before clipping. A non-finite norm changes nothing. */
  step(params: AdamWParams): Promise<{ gradNorm: number }>;
  /** The accumulated gradients, under Hugging Face names. */
  gradients(): Promise<TensorMap>;
  zeroGradients(): void;
  /** Copies the policy's weights into the reference (allocates it the first time). */
  snapshotReference(): void;
}

export interface Engine extends Learner {
  readonly config: ModelConfig;
  readonly sampler: Sampler;
  weights(): Promise<TensorMap>;
  /**
   * Replaces the policy's weights; the reference and the optimiser stay as they are. What the sampler has cached is
   * computed again. @throws Error naming tensors that do not fit.
   */
  loadWeights(weights: TensorMap): void;
  /** First and second moments and the step count: with `weights()`, all that a resumed run needs. */
  optimizerState(): Promise<{ step: number; m: TensorMap; v: TensorMap }>;
  loadOptimizerState(state: { step: number; m: TensorMap; v: TensorMap }): void;
  /** Tokens that the sampler has computed for prompts so far; shared ones count once. */
  readonly tokensPrefilled: number;
  /** Frees its buffers; whatever is asked of it after that is refused. */
  destroy(): void;
}
