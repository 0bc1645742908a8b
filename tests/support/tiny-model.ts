/** A very small model folder with random weights and no tokenizer. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { ModelConfig } from '../../src/records/model.ts';
import type { TensorMap } from '../../src/engine/types.ts';
import { saveModel } from '../../src/exchange/model-folder.ts';

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

export async function writeTinyModel(directory: string, change: (weights: TensorMap) => void = () => {}): Promise<TensorMap> {
  const weights = randomWeights(TINY, 5);
  // Large enough for distributions that are far from uniform.
  for (const [name, { data }] of weights) if (!name.includes('norm')) data.forEach((value, i) => (data[i] = value * 8));
  change(weights);
  await mkdir(directory, { recursive: true });
  for (const [name, bytes] of Object.entries(saveModel(TINY, weights))) await writeFile(join(directory, name), bytes);
  return weights;
}
