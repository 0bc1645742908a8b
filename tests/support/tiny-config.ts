/** The configuration of a very small model. */
import type { ModelConfig } from '../../src/records/model.ts';

export const TINY: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 37,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
};
