/**
 * @file Loads a tokenizer from the files of a Hugging Face model folder, without the network.
 *
 * It uses @huggingface/tokenizers, the tokenizer of Transformers.js. This gives the same ids in about 37 kB, without
 * dependencies. Importing @huggingface/transformers would add ONNX Runtime to the worker's bundle.
 */
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { InputError, parserReason, shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { Recent } from '../base/recent.ts';
import { type AddedToken, piecesOf, splitAdded } from '../base/text-pieces.ts';
import { type Jinja, needsJinja, readFormat } from './read-format.ts';
import { checkTokenizerJson } from './tokenizer-file.ts';
import type { Tokenizer } from './types.ts';

/** The tokens of the newest texts with at least `LONG` characters are kept: all conversations of a domain begin with the same system prompt. */
const LONG = 1000;
const REMEMBERED = 8;

/** File contents by name, as bytes or text. */
export type TokenizerFiles = Readonly<Record<string, Uint8Array | string | undefined>>;

export interface ChatTokenizer extends Tokenizer {
  /** The folder's Jinja chat template. Empty if the folder has no template. */
  chatTemplate: string;
}

/**
 * Needs `tokenizer.json` and `tokenizer_config.json`. A file `chat_template.jinja` replaces the template in the config.
 * Control tokens are encoded and decoded like all other tokens, unless `asText` has marked them as text. No token is added at the start or the end, and decoded text is
 * not cleaned up.
 * @param jinja must be given if the chat template needs it (`openTokenizer`)
 * @throws error that names the file that is missing or is not a tokenizer
 */
export function loadTokenizer(files: TokenizerFiles, jinja?: Jinja): ChatTokenizer {
  const config = readJson(files, 'tokenizer_config.json');
  const { words, added } = vocabularyOf(files, config);
  const chatTemplate = templateOf(files, config);
  const { control, others } = splitAdded(added);
  const tokens = { ...words, added: contentsOf(added) };
  const format = { ...readFormat(chatTemplate, tokens, specialTokens(config), jinja), control };
  const { first, bare, user, agent } = format;
  const written = [...first, bare, ...user, ...agent].join('');
  // In a message, such a token would not be text.
  const forged = others.find(({ content }) => /^[<[].+[>\]]$/s.test(content) && written.includes(content));
  if (forged)
    throw new InputError(
      `tokenizer.json: special of the added token ${shown(forged.content)} is false: expected true, as chat_template writes it around messages`,
    );
  return { ...words, chatTemplate, format };
}

/** Like `loadTokenizer`. Loads the library for chat templates if the template needs it. */
export async function openTokenizer(files: TokenizerFiles): Promise<ChatTokenizer> {
  const config = readJson(files, 'tokenizer_config.json');
  const jinja = needsJinja(templateOf(files, config), { added: contentsOf(vocabularyOf(files, config).added) })
    ? (await import('./jinja.ts')).Template
    : undefined;
  return loadTokenizer(files, jinja);
}

const contentsOf = (added: readonly AddedToken[]): Set<string> => new Set(added.map(({ content }) => content));

interface Vocabulary {
  words: Omit<ChatTokenizer, 'chatTemplate' | 'format'>;
  added: readonly AddedToken[];
}

/** By the bytes of tokenizer.json: a start of a run needs the same vocabulary several times. `config` is the file without its templates. */
const vocabularies = new WeakMap<Uint8Array, { config: string; vocabulary: Vocabulary }>();

function vocabularyOf(files: TokenizerFiles, config: Record<string, unknown>): Vocabulary {
  const file = files['tokenizer.json'];
  if (!(file instanceof Uint8Array)) return readVocabulary(readJson(files, 'tokenizer.json'), config);
  const key = keyOf(config);
  const known = vocabularies.get(file);
  if (known && known.config === key) return known.vocabulary;
  const vocabulary = readVocabulary(readJson(files, 'tokenizer.json'), config);
  if (key !== null) vocabularies.set(file, { config: key, vocabulary });
  return vocabulary;
}

/** Null if the file is nested too deeply to be written. */
function keyOf(config: Record<string, unknown>): string | null {
  try {
    return JSON.stringify({ ...config, chat_template: undefined, response_template: undefined });
  } catch {
    return null;
  }
}

function readVocabulary(file: Record<string, unknown>, config: Record<string, unknown>): Vocabulary {
  checkTokenizerJson(file);
  const added = file.added_tokens as AddedToken[];
  const { control, others } = splitAdded(added);
  const json = {
    ...file,
    pre_tokenizer: withNumbers(file.pre_tokenizer),
    // Otherwise a normalizer makes control tokens out of other characters in a message, such as those of full width.
    added_tokens: added.map((token) => (control.includes(token.content) ? { ...token, normalized: false } : token)),
  };
  let tokenizer: HuggingFaceTokenizer;
  try {
    tokenizer = new HuggingFaceTokenizer(json, config);
  } catch (error) {
    throw new InputError(`tokenizer.json is no tokenizer of Hugging Face: ${parserReason(error)}`);
  }
  const ids = (by: HuggingFaceTokenizer, string: string) => (string === '' ? [] : by.encode(string, { add_special_tokens: false }).ids);
  /** The tokenizer without control tokens. It is made for the first text that contains one. */
  let textOnly: HuggingFaceTokenizer | undefined;
  const ofText = (string: string): number[] => {
    textOnly ??= new HuggingFaceTokenizer({ ...json, added_tokens: others }, config);
    return ids(textOnly, string);
  };
  const encode = (string: string): number[] =>
    piecesOf(string, control)?.flatMap(({ text, isMarkup }) => (isMarkup ? ids(tokenizer, text) : ofText(text))) ?? ids(tokenizer, string);
  const known = new Recent<string, number[]>(REMEMBERED);
  let maxId = -1;
  for (const id of tokenizer.get_vocab().values()) maxId = Math.max(maxId, id);

  const words = {
    encode: (string: string) => (string.length < LONG ? encode(string) : known.get(string, () => encode(string)).slice()),
    decode(tokens: ArrayLike<number>): string {
      // A model's embedding may have more rows than the tokenizer has tokens. Skip ids that have no token.
      const ids = Array.from(tokens).filter((id) => tokenizer.id_to_token(id) !== undefined);
      return ids.length === 0 ? '' : tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    },
    has: (token: string) => tokenizer.token_to_id(token) !== undefined,
    id(token: string): number {
      const id = tokenizer.token_to_id(token);
      if (id === undefined)
        throw new InputError(`tokenizer.json has no token ${JSON.stringify(token)}: expected a tokenizer with Qwen's control tokens`);
      return id;
    },
  };
  return { words: { ...words, vocabSize: maxId + 1 }, added };
}

/** `Digits` as a regular expression: the original also splits at numbers such as ½ and ², and the library does not. */
function withNumbers(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withNumbers);
  if (!isObject(part)) return part;
  const { type, individual_digits, pretokenizers } = part;
  if (type === 'Digits')
    return { type: 'Split', pattern: { Regex: individual_digits === true ? '\\p{N}' : '\\p{N}+' }, behavior: 'Isolated', invert: false };
  return pretokenizers === undefined ? part : { ...part, pretokenizers: withNumbers(pretokenizers) };
}

const templateOf = (files: TokenizerFiles, config: Record<string, unknown>): string =>
  files['chat_template.jinja'] === undefined ? defaultTemplate(config.chat_template) : text(files['chat_template.jinja']);

/** The tokens that a chat template may name: `bos_token` and so on. Each is a text, or an object with the text in `content`. */
function specialTokens(config: Record<string, unknown>): Record<string, string> {
  const named = Object.entries(config).filter(([name]) => name.endsWith('_token'));
  const contents = named.map(([name, value]) => [name, isObject(value) ? value.content : value] as const);
  return Object.fromEntries(contents.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function text(file: Uint8Array | string): string {
  return typeof file === 'string' ? file : new TextDecoder().decode(file);
}

function readJson(files: TokenizerFiles, name: string): Record<string, unknown> {
  const file = files[name];
  if (file === undefined) throw new InputError(`${name} is missing: expected a model folder with tokenizer.json and tokenizer_config.json`);
  let value: unknown;
  try {
    value = JSON.parse(text(file));
  } catch (error) {
    throw new InputError(`${name} is not JSON: ${parserReason(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InputError(`${name} holds ${shown(value, 40)}: expected a JSON object`);
  return value as Record<string, unknown>;
}

/** Finds the default chat template. `value` is a string, or a list of named templates that includes `default`. */
function defaultTemplate(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  const named = (value as { name?: unknown; template?: unknown }[]).find((entry) => entry.name === 'default');
  return typeof named?.template === 'string' ? named.template : '';
}
