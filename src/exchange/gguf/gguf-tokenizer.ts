/** @file The tokenizer in the metadata of a GGUF file, as `tokenizer.json` and `tokenizer_config.json`. */
import { shown } from '../../base/input-error.ts';
import { GgufError } from './gguf-error.ts';
import type { GgufValue } from './gguf-file.ts';
import { Metadata } from './gguf-metadata.ts';

type Json = Record<string, unknown>;

const byteLevel = (use_regex: boolean): Json => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex });
const split = (Regex: string): Json => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });
const sequence = (...pretokenizers: Json[]): Json => ({ type: 'Sequence', pretokenizers });

const WORDS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
const REST = '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

/** How each pre-tokenizer of llama.cpp splits a text, as the `tokenizer.json` of its models says. */
const SPLITS: Readonly<Record<string, { pre_tokenizer: Json; normalizer?: Json; ignore_merges?: boolean }>> = {
  'gpt-2': { pre_tokenizer: byteLevel(true) },
  smollm: { pre_tokenizer: sequence({ type: 'Digits', individual_digits: true }, byteLevel(true)) },
  qwen2: { pre_tokenizer: sequence(split(`${WORDS}\\p{N}${REST}`), byteLevel(false)), normalizer: { type: 'NFC' } },
  'llama-bpe': { pre_tokenizer: sequence(split(`${WORDS}\\p{N}{1,3}${REST}`), byteLevel(false)), ignore_merges: true },
};

/** The values of `tokenizer.ggml.token_type`. */
const [NORMAL, CONTROL, USER_DEFINED, UNUSED] = [1, 3, 4, 5];

/**
 * The files of the tokenizer. They give the same ids as the original. Tokens that only fill the vocabulary are left out.
 * @throws GgufError that names the field
 */
export function tokenizerFiles(metadata: ReadonlyMap<string, GgufValue>): { 'tokenizer.json': Json; 'tokenizer_config.json': Json } {
  const fields = new Metadata(metadata);
  fields.only('tokenizer.ggml.model', 'gpt2');
  const pre = fields.text('tokenizer.ggml.pre');
  const chosen = Object.hasOwn(SPLITS, pre) ? SPLITS[pre]! : undefined;
  if (!chosen) throw new GgufError(`tokenizer.ggml.pre is ${shown(pre)}: expected ${Object.keys(SPLITS).join(', ')}`);
  const tokens = fields.texts('tokenizer.ggml.tokens');
  const types = metadata.has('tokenizer.ggml.token_type') ? fields.numbers('tokenizer.ggml.token_type') : tokens.map(() => NORMAL);
  if (types.length !== tokens.length)
    throw new GgufError(`tokenizer.ggml.token_type has ${types.length} entries: expected ${tokens.length}, one for each token`);
  const vocab = new Map<string, number>();
  for (const [id, token] of tokens.entries()) {
    if (types[id] === UNUSED) continue;
    if (vocab.has(token)) throw new GgufError(`tokenizer.ggml.tokens: ${shown(token)} occurs twice, as ${vocab.get(token)} and ${id}`);
    vocab.set(token, id);
  }
  const added = [...vocab].filter(([, id]) => types[id] === CONTROL || types[id] === USER_DEFINED);
  const special = (name: string): string | undefined => {
    const field = `tokenizer.ggml.${name}_token_id`;
    if (!metadata.has(field)) return undefined;
    const id = fields.number(field);
    if (tokens[id] === undefined) throw new GgufError(`${field} is ${id}: expected an id below ${tokens.length}`);
    return tokens[id];
  };
  const bos = special('bos');
  const first = bos !== undefined && fields.flag('tokenizer.ggml.add_bos_token', pre === 'llama-bpe') ? bos : undefined;
  return {
    'tokenizer.json': {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: added.map(([content, id]) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: types[id] === CONTROL,
      })),
      normalizer: chosen.normalizer ?? null,
      pre_tokenizer: chosen.pre_tokenizer,
      post_processor: first === undefined ? null : beginningWith(first, vocab.get(first)!),
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: chosen.ignore_merges ?? false,
        vocab: Object.fromEntries(vocab),
        merges: fields.texts('tokenizer.ggml.merges'),
      },
    },
    'tokenizer_config.json': {
      tokenizer_class: 'PreTrainedTokenizerFast',
      ...(bos !== undefined && { bos_token: bos }),
      ...named('eos_token', special('eos')),
      ...named('pad_token', special('padding')),
      ...named('unk_token', special('unknown')),
      add_prefix_space: false,
      clean_up_tokenization_spaces: false,
      ...named('chat_template', metadata.has('tokenizer.chat_template') ? fields.text('tokenizer.chat_template') : undefined),
    },
  };
}

const named = (name: string, value: string | undefined): Json => (value === undefined ? {} : { [name]: value });

/** Every text begins with this token, if special tokens are asked for. */
function beginningWith(token: string, id: number): Json {
  const part = { SpecialToken: { id: token, type_id: 0 } };
  const text = (name: 'A' | 'B', type_id: number) => ({ Sequence: { id: name, type_id } });
  return {
    type: 'TemplateProcessing',
    single: [part, text('A', 0)],
    pair: [part, text('A', 0), part, text('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}
