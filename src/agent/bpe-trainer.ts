/**
 * @file Trains a byte-level BPE tokenizer (Sennrich et al. 2016; bytes as in GPT-2) and writes a Hugging Face `tokenizer.json`
 * with Qwen's control tokens. The vocabulary is small, for nano models. Every tool that can load Qwen's tokenizer can load
 * this one.
 *
 * Differences from Qwen3's tokenizer make sequences shorter and copying easier:
 * - Digits are grouped from the left, with up to `digits` digits in a group, and every group is one token. So an id has few
 *   tokens. Nano models learn to copy ids later than anything else.
 * - A word keeps the underscore after it (`gift_card_|12|34`), so the token before the digits says which kind of id follows.
 *   Such a word is split from a space or punctuation mark before it, so that it is the same token everywhere.
 * - With `splitCapitals`, a word that begins with a capital letter does not include the space before it. The previous word
 *   includes this space (`I| am |Amir`). So a name is the same token in messages, records and calls, and the token before it
 *   says what the name stands for.
 * - JSON between two values is not split (`", "arguments": {"order_id": "`). Words joined by `_` are not split either. So the
 *   JSON around the values of a tool call, with the tool's name, can be one token, and a nano model learns values instead of
 *   punctuation.
 * - Text is not normalised: decode(encode(x)) = x for every string.
 */
import { QWEN } from './chat-template.ts';
import { CHAT_TEMPLATE, MODEL_INPUT_NAMES, responseTemplate } from './jinja-template.ts';

/** Qwen3's tokens for chat, tools and thoughts, in Qwen3's order. A token with `special` is skipped when text is decoded for display. */
export const CONTROL_TOKENS: readonly { content: string; special: boolean }[] = [
  ...['<|endoftext|>', '<|im_start|>', '<|im_end|>'].map((content) => ({ content, special: true })),
  ...['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>', '</think>'].map((content) => ({
    content,
    special: false,
  })),
];

export interface BpeOptions {
  /**
   * The number of tokens to reach: 256 bytes, digit groups, merges and control tokens. The result has fewer tokens if not enough
   * pairs are frequent.
   */
  vocabSize: number;
  /** The largest number of digits in a group. Qwen has 1. */
  digits: 1 | 2 | 3;
  /** If true, a word with a capital first letter does not include the space before it. Default: false. */
  splitCapitals?: boolean;
  /** A pair that occurs less often is not merged. Default: 2. */
  minFrequency?: number;
  /** The value of `model_max_length` in tokenizer_config.json. */
  maxLength?: number;
}

export interface TrainedTokenizer {
  /** The content of each file, by file name. */
  files: { 'tokenizer.json': string; 'tokenizer_config.json': string };
  vocabSize: number;
}

/**
 * Trains on texts, which may contain control tokens. The result is deterministic: if pairs are equally frequent, the first in
 * sort order is merged.
 */
export function trainTokenizer(texts: Iterable<string>, options: BpeOptions): TrainedTokenizer {
  const { vocabSize, digits, splitCapitals = false, minFrequency = 2, maxLength = 32768 } = options;
  const pattern = splitPattern(digits, splitCapitals);
  const tokens = [...byteAlphabet()];
  const merges: [string, string][] = [];
  for (const [left, right] of digitMerges(digits)) {
    merges.push([left, right]);
    tokens.push(left + right);
  }
  const least = tokens.length + CONTROL_TOKENS.length;
  if (!Number.isInteger(vocabSize) || vocabSize < least)
    throw new Error(`vocabulary size ${vocabSize}: expected at least ${least} with digit groups of ${digits}`);
  const known = new Set(tokens);
  for (const [left, right] of learnMerges(countWords(texts, pattern), vocabSize - least, minFrequency)) {
    merges.push([left, right]);
    if (!known.has(left + right)) tokens.push(left + right);
    known.add(left + right);
  }
  return { files: tokenizerFiles(tokens, merges, pattern, maxLength), vocabSize: tokens.length + CONTROL_TOKENS.length };
}

/** Qwen's split pattern, with the differences above. It has no inline flags, so that Oniguruma and JavaScript read it in the same way. */
function splitPattern(digits: number, splitCapitals: boolean): string {
  const json = ' ?[{}\\[\\]",:]+(?: ?[a-z_]*[{}\\[\\]",:]+)*';
  const contraction = "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])";
  const rest = '\\p{L}+(?:_\\p{L}*)*';
  const words = splitCapitals
    ? ['\\p{Lu}\\p{L}*(?:_\\p{L}*)*', `(?:[^\\r\\n\\p{L}\\p{N}](?!\\p{L}+_|\\p{Lu}))?${rest}(?: (?=\\p{Lu}))?`]
    : [`(?:[^\\r\\n\\p{L}\\p{N}](?!\\p{L}+_))?${rest}`];
  const number = digits === 1 ? '\\p{N}' : `\\p{N}{1,${digits}}`;
  const marks = ' ?[^\\s\\p{L}\\p{N}]+(?: [^\\s\\p{L}\\p{N}]+)*[\\r\\n]*';
  return [json, contraction, ...words, number, marks, '\\s*[\\r\\n]+', '\\s+(?!\\S)', '\\s+'].join('|');
}

/** For each byte value, the printable character that GPT-2 uses for it. */
function byteAlphabet(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    return String.fromCodePoint(printable ? byte : next++);
  });
}

/**
 * The merges that make every string of 2…n digits one token. Merges of two digits are in numerical order, so `321` joins `21`
 * before `32`. With this order, each string of three digits needs only one more merge.
 */
function* digitMerges(n: number): Generator<[string, string]> {
  const digits = [...'0123456789'];
  if (n < 2) return;
  for (const a of digits) for (const b of digits) yield [a, b];
  if (n < 3) return;
  for (const a of digits) for (const b of digits) for (const c of digits) yield a + b <= b + c ? [a + b, c] : [a, b + c];
}

/** Counts each word, written in the characters of `byteAlphabet`. Groups of digits are skipped, because they are already tokens. */
function countWords(texts: Iterable<string>, pattern: string): Map<string, number> {
  const control = new RegExp(CONTROL_TOKENS.map(({ content }) => content.replace(/[|]/g, '\\$&')).join('|'));
  const split = new RegExp(pattern, 'gu');
  const alphabet = byteAlphabet();
  const encoder = new TextEncoder();
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const section of text.split(control)) {
      for (const [word] of section.matchAll(split)) {
        if (/^[0-9]+$/.test(word)) continue;
        const key = Array.from(encoder.encode(word), (byte) => alphabet[byte]!).join('');
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** Learns up to `count` merges. Each one merges the pair that is most frequent after the merges before it. */
function learnMerges(counts: Map<string, number>, count: number, minFrequency: number): [string, string][] {
  let words = [...counts].map(([word, frequency]) => ({ symbols: [...word], frequency }));
  const merges: [string, string][] = [];
  while (merges.length < count) {
    const pairs = new Map<string, number>();
    words = words.filter((word) => word.symbols.length > 1);
    for (const { symbols, frequency } of words) {
      for (let i = 1; i < symbols.length; i++) {
        const pair = `${symbols[i - 1]} ${symbols[i]}`;
        pairs.set(pair, (pairs.get(pair) ?? 0) + frequency);
      }
    }
    let best = '';
    let frequency = 0;
    for (const [pair, n] of pairs) {
      if (n > frequency || (n === frequency && pair < best)) [best, frequency] = [pair, n];
    }
    if (frequency < minFrequency) break;
    const [left, right] = best.split(' ') as [string, string];
    merges.push([left, right]);
    for (const word of words) word.symbols = mergePair(word.symbols, left, right);
  }
  return merges;
}

function mergePair(symbols: string[], left: string, right: string): string[] {
  if (!symbols.includes(left)) return symbols;
  const merged: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      merged.push(left + right);
      i++;
    } else merged.push(symbols[i]!);
  }
  return merged;
}

function tokenizerFiles(tokens: string[], merges: [string, string][], pattern: string, maxLength: number) {
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const added = CONTROL_TOKENS.map(({ content, special }, i) => ({ id: tokens.length + i, content, ...flags, special }));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [{ type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false }, byteLevel],
    },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    },
  };
  const config = {
    add_bos_token: false,
    add_prefix_space: false,
    added_tokens_decoder: Object.fromEntries(added.map(({ id, ...token }) => [id, token])),
    bos_token: null,
    chat_template: CHAT_TEMPLATE,
    clean_up_tokenization_spaces: false,
    eos_token: '<|im_end|>',
    errors: 'replace',
    model_input_names: MODEL_INPUT_NAMES,
    model_max_length: maxLength,
    pad_token: '<|endoftext|>',
    response_template: responseTemplate(QWEN),
    split_special_tokens: false,
    // With the class Qwen2Tokenizer, a library may replace the file's split pattern by its own, which splits numbers into single
    // digits.
    tokenizer_class: 'PreTrainedTokenizerFast',
    unk_token: null,
  };
  return { 'tokenizer.json': `${JSON.stringify(tokenizer)}\n`, 'tokenizer_config.json': `${JSON.stringify(config, null, 2)}\n` };
}
