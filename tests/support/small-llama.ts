/** A llama of random weights whose tokenizer has no tool tags, with SmolLM2's chat template: as a Hugging Face folder and as a GGUF file. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomWeights } from '../../src/engine/parameters.ts';
import { saveModel } from '../../src/exchange/model-folder.ts';
import type { ModelConfig, ModelFiles } from '../../src/records/model.ts';
import { float, ggufBytes, number, numbers, text, texts, type Tensor } from './gguf.ts';
import { plainFiles, SMOLLM2_TEMPLATE } from './tokenizers.ts';

const CONTROL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const TOKENIZER = plainFiles(SMOLLM2_TEMPLATE, CONTROL);
const json = JSON.parse(TOKENIZER['tokenizer.json']) as { model: { vocab: Record<string, number>; merges: [string, string][] } };
const bpe = json.model;
/** SmolLM2 splits digits one by one, then as GPT-2. */
const pre_tokenizer = {
  type: 'Sequence',
  pretokenizers: [
    { type: 'Digits', individual_digits: true },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  ],
};
const TOKENS = [...Object.keys(bpe.vocab).sort((a, b) => bpe.vocab[a]! - bpe.vocab[b]!), ...CONTROL];

const SMALL_LLAMA: ModelConfig = {
  model_type: 'llama',
  vocab_size: TOKENS.length,
  hidden_size: 48,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-5,
  rope_theta: 100_000,
  max_position_embeddings: 8192,
  tie_word_embeddings: true,
};

const WEIGHTS = randomWeights(SMALL_LLAMA, 7);
// Large enough for distributions that are far from uniform.
for (const [name, { data }] of WEIGHTS) if (!name.includes('norm')) data.forEach((value, i) => (data[i] = value * 5));

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** The files of the folder. SmolLM2's tokenizer_config.json names the same special tokens. */
export const smallLlama = (): ModelFiles => ({
  ...saveModel(SMALL_LLAMA, WEIGHTS),
  'tokenizer.json': encode({ ...json, pre_tokenizer }),
  'tokenizer_config.json': encode({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: CONTROL[1],
    eos_token: CONTROL[2],
    pad_token: CONTROL[2],
    chat_template: SMOLLM2_TEMPLATE,
  }),
});

export async function writeSmallLlama(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, bytes] of Object.entries(smallLlama())) await writeFile(join(directory, name), bytes);
}

const NAMES: [RegExp, string][] = [
  [/^model\.embed_tokens/, 'token_embd'],
  [/^model\.norm/, 'output_norm'],
  [/^model\.layers\.(\d+)\./, 'blk.$1.'],
  [/input_layernorm/, 'attn_norm'],
  [/post_attention_layernorm/, 'ffn_norm'],
  [/self_attn\.([qkv])_proj/, 'attn_$1'],
  [/self_attn\.o_proj/, 'attn_output'],
  [/mlp\.(\w+)_proj/, 'ffn_$1'],
];
const ggufName = (name: string) => NAMES.reduce((text, [from, to]) => text.replace(from, to), name);

/** The rows in the order of llama.cpp: `LlamaModel.permute` of convert_hf_to_gguf.py puts the two halves of each head into pairs. */
function permuted(data: Float32Array, heads: number, columns: number): Float32Array {
  const half = data.length / columns / heads / 2;
  const rows = Array.from({ length: 2 * half * heads }, (_, row) => {
    const [head, within] = [Math.floor(row / (2 * half)), row % (2 * half)];
    const from = 2 * half * head + (within % 2) * half + Math.floor(within / 2);
    return [...data.subarray(from * columns, (from + 1) * columns)];
  });
  return Float32Array.from(rows.flat());
}

/** The GGUF file, with all tensors in float32. */
export function smallLlamaGguf(): Uint8Array<ArrayBuffer> {
  const { hidden_size: hidden, num_attention_heads: heads, num_key_value_heads: kvHeads } = SMALL_LLAMA;
  const tensors: (Tensor & { data: Float32Array })[] = [];
  let length = 0;
  for (const [name, { shape, data }] of WEIGHTS) {
    const own = /[qk]_proj/.test(name) ? permuted(data, name.includes('q_proj') ? heads : kvHeads, hidden) : data;
    tensors.push({ name: ggufName(name), shape: [...shape].reverse(), type: 0, offset: length, data: own });
    length += Math.ceil(own.byteLength / 32) * 32;
  }
  const bytes = ggufBytes(
    [
      text('general.architecture', 'llama'),
      number('llama.block_count', SMALL_LLAMA.num_hidden_layers),
      number('llama.context_length', SMALL_LLAMA.max_position_embeddings),
      number('llama.embedding_length', hidden),
      number('llama.feed_forward_length', SMALL_LLAMA.intermediate_size),
      number('llama.attention.head_count', heads),
      number('llama.attention.head_count_kv', kvHeads),
      float('llama.attention.layer_norm_rms_epsilon', SMALL_LLAMA.rms_norm_eps),
      float('llama.rope.freq_base', SMALL_LLAMA.rope_theta),
      number('llama.vocab_size', TOKENS.length),
      text('tokenizer.ggml.model', 'gpt2'),
      text('tokenizer.ggml.pre', 'smollm'),
      texts('tokenizer.ggml.tokens', TOKENS),
      numbers('tokenizer.ggml.token_type', TOKENS.map((token) => (CONTROL.includes(token) ? 3 : 1))), // prettier-ignore
      texts('tokenizer.ggml.merges', bpe.merges.map((pair) => pair.join(' '))), // prettier-ignore
      number('tokenizer.ggml.bos_token_id', TOKENS.indexOf(CONTROL[1]!)),
      number('tokenizer.ggml.eos_token_id', TOKENS.indexOf(CONTROL[2]!)),
      text('tokenizer.chat_template', SMOLLM2_TEMPLATE),
    ],
    tensors,
    length,
  );
  for (const { offset, data } of tensors)
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), bytes.length - length + offset);
  return bytes;
}
