/** @file Writes a model's architecture and card as text. */
import type { ModelConfig } from '../../records/model.ts';

/** For example `qwen3, 3 layers of width 64, 4 heads (2 key-value) of 32, MLP 192, vocabulary 1,280, tied embeddings`. */
export function architecture(config: ModelConfig): string {
  const n = (value: number) => value.toLocaleString('en');
  return [
    `${config.model_type}, ${n(config.num_hidden_layers)} layers of width ${n(config.hidden_size)}`,
    `${n(config.num_attention_heads)} heads (${n(config.num_key_value_heads)} key-value) of ${n(config.head_dim)}`,
    `MLP ${n(config.intermediate_size)}`,
    `vocabulary ${n(config.vocab_size)}`,
    `${config.tie_word_embeddings ? 'tied' : 'untied'} embeddings`,
    `at most ${n(config.max_position_embeddings)} tokens`,
  ].join(', ');
}

/** The model card without its YAML header. */
export const cardText = (card: string) => card.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '').trim();
