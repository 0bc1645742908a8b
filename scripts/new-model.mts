/**
 * Makes a model folder from a tokenizer and new weights. The cold start trains such a model.
 * Usage: npx tsx scripts/new-model.mts --tokenizer DIR --out DIR [--hidden-size 128] [--layers 4] [--heads 4] [--kv-heads 2]
 *   [--head-dim 32] [--intermediate-size 384] [--vocab-size N] [--max-position-embeddings 2048] [--rope-theta 1000000] [--seed 1]
 *   [--init random|copying]   see src/training/init-weights.ts
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ModelConfig } from '../src/records/model.ts';
import { loadTokenizer } from '../src/agent/tokenizer.ts';
import { saveModel } from '../src/exchange/model-folder.ts';
import { freshWeights, type Init } from '../src/training/init-weights.ts';

const { values } = parseArgs({
  options: {
    tokenizer: { type: 'string' },
    out: { type: 'string' },
    'hidden-size': { type: 'string', default: '128' },
    layers: { type: 'string', default: '4' },
    heads: { type: 'string', default: '4' },
    'kv-heads': { type: 'string', default: '2' },
    'head-dim': { type: 'string', default: '32' },
    'intermediate-size': { type: 'string', default: '384' },
    'vocab-size': { type: 'string' },
    'max-position-embeddings': { type: 'string', default: '2048' },
    'rope-theta': { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    init: { type: 'string', default: 'random' },
  },
});
if (!values.tokenizer || !values.out) throw new Error('usage: npx tsx scripts/new-model.mts --tokenizer DIR --out DIR');

const names = ['tokenizer.json', 'tokenizer_config.json'];
const files = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(values.tokenizer!, name)))] as const)),
);
const config: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: Number(values['vocab-size'] ?? loadTokenizer(files).vocabSize),
  hidden_size: Number(values['hidden-size']),
  intermediate_size: Number(values['intermediate-size']),
  num_hidden_layers: Number(values.layers),
  num_attention_heads: Number(values.heads),
  num_key_value_heads: Number(values['kv-heads']),
  head_dim: Number(values['head-dim']),
  rms_norm_eps: 1e-6,
  rope_theta: Number(values['rope-theta']),
  max_position_embeddings: Number(values['max-position-embeddings']),
  tie_word_embeddings: true,
};
const weights = freshWeights(config, { init: values.init as Init, seed: Number(values.seed) });
await mkdir(values.out, { recursive: true });
for (const [name, bytes] of Object.entries({ ...files, ...saveModel(config, weights) })) await writeFile(join(values.out, name), bytes);
const parameters = [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
console.log(`${values.out}: ${parameters.toLocaleString('en')} parameters, vocabulary ${config.vocab_size}`);
