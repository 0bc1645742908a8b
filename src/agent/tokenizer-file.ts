/**
 * @file Checks a `tokenizer.json` before the tokenizer library reads it. The library does not check the fields: a hostile id
 * makes it create an array of 4 billion entries, and a hostile regular expression never ends.
 */
import { InputError, shown } from '../base/input-error.ts';

/** An upper limit on the number of tokens. All tokenizers of Qwen have fewer (151,936). */
const MOST_TOKENS = 2 ** 20;

/**
 * The alternatives of the split patterns of GPT-2, GPT-4, Llama 3, Qwen2, Qwen3 and our own tokenizers. A pattern may combine
 * these. Each of them takes linear time on every text. For other patterns no check can promise this.
 */
const ALTERNATIVES: ReadonlySet<string> = new Set([
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
  '(?i:[sdmt]|ll|ve|re)',
  "'(?i:[sdmt]|ll|ve|re)",
  "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])",
  ...["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"],
  '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+',
  '[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+',
  '(?:[^\\r\\n\\p{L}\\p{N}](?!\\p{L}+_))?\\p{L}+(?:_\\p{L}*)*',
  '\\p{Lu}\\p{L}*(?:_\\p{L}*)*',
  '(?:[^\\r\\n\\p{L}\\p{N}](?!\\p{L}+_|\\p{Lu}))?\\p{L}+(?:_\\p{L}*)*(?: (?=\\p{Lu}))?',
  ' ?\\p{L}+',
  '\\p{N}',
  '\\p{N}+',
  ' ?\\p{N}+',
  '\\p{N}{1,2}',
  '\\p{N}{1,3}',
  ' ?[^\\s\\p{L}\\p{N}]+',
  ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*',
  ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*',
  ' ?[^\\s\\p{L}\\p{N}]+(?: [^\\s\\p{L}\\p{N}]+)*[\\r\\n]*',
  ' ?[{}\\[\\]",:]+(?: ?[a-z_]*[{}\\[\\]",:]+)*',
  '\\s*[\\r\\n]',
  '\\s*[\\r\\n]+',
  '\\s+(?!\\S)',
  '\\s+',
]);

/** The longest token. The longest of Qwen, Llama 3 and SmolLM2 have fewer than 200 characters. */
const LONGEST_TOKEN = 1000;

/** The known parts of a tokenizer. Other parts, such as normalizers of unknown kinds, may multiply a text. */
const PARTS = {
  normalizer: ['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'Strip', 'StripAccents', 'Prepend', 'Replace', 'Sequence'],
  pre_tokenizer: ['ByteLevel', 'Split', 'Digits', 'Metaspace', 'Punctuation', 'Whitespace', 'WhitespaceSplit', 'Sequence'],
  decoder: ['ByteLevel', 'ByteFallback', 'Fuse', 'Metaspace', 'Strip', 'Replace', 'Sequence'],
  post_processor: ['ByteLevel', 'TemplateProcessing', 'RobertaProcessing', 'BertProcessing', 'Sequence'],
} as const;
const LISTS = ['normalizers', 'pretokenizers', 'decoders', 'processors'];
/** Fields that the library ignores or reads in another way than the original, with the values for which both give the same ids. */
const ONLY: Record<string, { field: string; values: readonly unknown[] }> = {
  Split: { field: 'behavior', values: ['Isolated', 'Removed', 'MergedWithPrevious', 'MergedWithNext'] },
  Metaspace: { field: 'split', values: [false] },
};
/** The most parts of one kind. Llama 2 has two normalizers and four decoders. */
const MOST_PARTS = 16;
/** The longest text that a part puts before or between words, in characters. That of Llama 2 has one. */
const LONGEST_PREFIX = 16;

/** @throws InputError that names the field, its value and what was expected */
export function checkTokenizerJson(json: Record<string, unknown>): void {
  const model = record(json.model, 'model');
  if (model.type !== 'BPE') fail('model.type', model.type, '"BPE"');
  const vocab = record(model.vocab, 'model.vocab');
  for (const [token, id] of Object.entries(vocab)) {
    if (!isId(id)) fail(`model.vocab: ${shown(token)}`, id, ID);
    checkLength('model.vocab', token);
  }
  for (const [i, merge] of list(model.merges, 'model.merges').entries()) {
    const parts = typeof merge === 'string' ? merge.split(' ') : merge;
    if (!Array.isArray(parts) || parts.length !== 2 || !parts.every((part) => typeof part === 'string'))
      fail(`model.merges[${i}]`, merge, 'two tokens');
  }
  for (const [i, entry] of list(json.added_tokens, 'added_tokens').entries()) {
    const { id, content, single_word } = record(entry, `added_tokens[${i}]`);
    // The library does not look whether the token is a whole word.
    if (single_word === true) fail(`added_tokens[${i}].single_word`, single_word, 'false');
    if (!isId(id)) fail(`added_tokens[${i}].id`, id, ID);
    if (typeof content !== 'string' || content === '') fail(`added_tokens[${i}].content`, content, 'a text');
    checkLength(`added_tokens[${i}].content`, content as string);
  }
  for (const field of ['unk_token', 'continuing_subword_prefix', 'end_of_word_suffix', 'continuing_subword_suffix']) {
    const value = model[field] ?? null;
    if (value !== null && typeof value !== 'string') fail(`model.${field}`, value, 'a text or null');
    if (typeof value === 'string') checkLength(`model.${field}`, value);
  }
  for (const [part, known] of Object.entries(PARTS)) {
    const value = json[part] ?? null;
    checkPatterns(value, part, 0);
    if (value !== null && checkParts(value, part, known) > MOST_PARTS) fail(part, value, `at most ${MOST_PARTS} parts`);
  }
}

const ID = `a whole number from 0 to ${MOST_TOKENS - 1}`;
const isId = (id: unknown) => Number.isInteger(id) && (id as number) >= 0 && (id as number) < MOST_TOKENS;

const TEXTS: ReadonlySet<string> = new Set(['type', 'behavior', 'Regex', 'String', 'content']);

/** The deepest allowed nesting: a sequence of pre-tokenizers may contain sequences. */
const MOST_LEVELS = 20;

const checkLength = (field: string, token: string) => {
  if (token.length > LONGEST_TOKEN) fail(field, token, `at most ${LONGEST_TOKEN} characters`);
};

/** Checks that a part is of a known kind, and that it does not make a text longer. @returns the number of its parts */
function checkParts(value: unknown, path: string, known: readonly string[]): number {
  const part = record(value, path);
  if (!known.includes(part.type as string)) fail(`${path}.type`, part.type, known.join(', '));
  const only = ONLY[part.type as string];
  if (only && path.startsWith('pre_tokenizer') && !only.values.includes(part[only.field]))
    fail(`${path}.${only.field}`, part[only.field], only.values.join(', '));
  const { String: from, Regex: expression } = (part.pattern ?? {}) as { String?: string; Regex?: string };
  if (part.type === 'Replace' && (typeof part.content !== 'string' || part.content.length > Math.max(1, from?.length ?? 0)))
    fail(`${path}.content`, part.content, 'a text that is not longer than the pattern');
  if (part.type === 'Replace' && (from === '' || expression === '')) fail(`${path}.pattern`, part.pattern, 'a pattern that is not empty');
  for (const field of ['prepend', 'replacement', 'prefix'])
    if (part[field] !== undefined && (typeof part[field] !== 'string' || part[field].length > LONGEST_PREFIX))
      fail(`${path}.${field}`, part[field], `at most ${LONGEST_PREFIX} characters`);
  let count = 1;
  for (const field of LISTS)
    for (const [i, own] of list(part[field] ?? [], `${path}.${field}`).entries()) count += checkParts(own, `${path}.${field}[${i}]`, known);
  return count;
}

function checkPatterns(value: unknown, path: string, level: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (level > MOST_LEVELS) fail(path, value, `at most ${MOST_LEVELS} levels`);
  for (const [key, own] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
    if (key === 'pattern' && (typeof own !== 'object' || own === null || !('Regex' in own || 'String' in own)))
      fail(at, own, '{"Regex": …} or {"String": …}');
    if (TEXTS.has(key) && typeof own !== 'string') fail(at, own, 'a text');
    const stranger = key === 'Regex' ? alternatives(own as string).find((one) => !ALTERNATIVES.has(one)) : undefined;
    if (stranger !== undefined)
      throw new InputError(`tokenizer.json: ${at} has the alternative ${shown(stranger)}: expected those of GPT-2, GPT-4, Llama 3 or Qwen`);
    checkPatterns(own, at, level + 1);
  }
}

/** Splits a regular expression at each `|` that is not inside a group or class. */
function alternatives(pattern: string): string[] {
  const found = [''];
  let depth = 0;
  for (const part of pattern.match(/\\.|\[(?:\\.|[^\]\\])*\]|[^]/gsu) ?? []) {
    if (part === '(') depth++;
    if (part === ')') depth--;
    if (part === '|' && depth === 0) found.push('');
    else found[found.length - 1] += part;
  }
  return found;
}

function record(value: unknown, field: string): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : fail(field, value, 'an object');
}

const list = (value: unknown, field: string): readonly unknown[] => (Array.isArray(value) ? value : fail(field, value, 'a list'));

function fail(field: string, value: unknown, expected: string): never {
  throw new InputError(`tokenizer.json: ${field} is ${shown(value)}: expected ${expected}`);
}
