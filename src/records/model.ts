/** @file A model: its configuration, a reference to weights, and its stored row. */

/** A reference to weights: a model by its name, or a checkpoint of a run. */
export type ModelRef = { kind: 'model'; name: string } | { kind: 'run'; run: string; step: number };

/** A stored model, with the files of its Hugging Face folder. */
export interface ModelRow {
  id: string;
  name: string;
  addedAt: number;
  /** The id of the run that made the weights. */
  run?: string;
  config: ModelConfig;
  parameters: number;
  files: Record<string, Blob>;
  /**
   * The folder of the browser's private file system that holds the weights (`src/exchange/model-storage.ts`), and their size in bytes.
   * Absent if the weights are in `files`.
   */
  weights?: { folder: string; bytes: number };
}

/** The number format of a model's matrices on the GPU, see `src/engine/kernels/weight-format.ts`. */
export type Precision = 'f32' | 'bf16' | 'int8' | 'int4';

/** Rotary embeddings whose slow frequencies are divided by `factor` (Llama 3.1 and 3.2). */
export interface RopeScaling {
  rope_type: 'llama3';
  factor: number;
  low_freq_factor: number;
  high_freq_factor: number;
  original_max_position_embeddings: number;
}

/** The fields of a Hugging Face `config.json` that the decoder uses (Qwen3ForCausalLM, Qwen2ForCausalLM, LlamaForCausalLM). */
export interface ModelConfig {
  model_type: 'qwen3' | 'qwen2' | 'llama';
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
  /** Present if the model lacks the biases of q, k and v that its family has. */
  attention_bias?: false;
  /** Absent if the rotary embeddings are not scaled. */
  rope_scaling?: RopeScaling;
}

/** The files of a Hugging Face model folder by name (`config.json`, `model.safetensors`, …). */
export type ModelFiles = Record<string, Uint8Array<ArrayBuffer>>;
