/** @file Describes a model for transformers, TRL and vLLM: where generation ends, and how a turn is rendered and parsed. */
import { END_OF_TEXT } from '../agent/chat-template.ts';
import {
  CHAT_TEMPLATE,
  compactTemplate,
  isCompactTemplate,
  isOwnTemplate,
  MODEL_INPUT_NAMES,
  responseTemplate,
} from '../agent/jinja-template.ts';
import { type ChatTokenizer, openTokenizer } from '../agent/tokenizer.ts';
import { InputError } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { jsonFile, readJson } from '../exchange/model-folder.ts';
import type { ModelFiles } from '../records/model.ts';

/** Whether the model's chat template is one that this project writes. @throws InputError if a file of the tokenizer is wrong */
export const isOfPlayground = async (files: ModelFiles): Promise<boolean> => isOurs(await openTokenizer(files));

const isOurs = ({ chatTemplate }: ChatTokenizer): boolean => isOwnTemplate(chatTemplate) || isCompactTemplate(chatTemplate);

/**
 * Adds what a model's folder lacks: the ids that end a generation and the id that pads (`config.json`, `generation_config.json`), the names
 * of the model's inputs, and how a turn is parsed (`tokenizer_config.json`). A template of this project becomes its newest version. Fields
 * that the folder has stay. A folder without a tokenizer that this project can read stays as it is.
 */
export async function forTransformers(files: ModelFiles): Promise<ModelFiles> {
  const tokenizer = await readTokenizer(files);
  if (!tokenizer) return files;
  const { format, chatTemplate } = tokenizer;
  const described = readJson(files, 'tokenizer_config.json') as Record<string, unknown>;
  const config = readJson(files, 'config.json') as Record<string, unknown>;
  const template = isOwnTemplate(chatTemplate) ? CHAT_TEMPLATE : format.compact ? compactTemplate(format) : chatTemplate;
  const ends = [format.end, END_OF_TEXT].filter((token) => tokenizer.has(token)).map((token) => tokenizer.id(token));
  const padding = [contentOf(described.pad_token), END_OF_TEXT, format.end].find((token) => token !== undefined && tokenizer.has(token));
  const ids = { eos_token_id: [...new Set(ends)], ...(padding !== undefined && { pad_token_id: tokenizer.id(padding) }) };
  return {
    ...files,
    'config.json': jsonFile(completed(config, ids)),
    'generation_config.json': files['generation_config.json'] ?? jsonFile(completed({ _from_model_config: true }, ids)),
    'tokenizer_config.json': jsonFile({
      model_input_names: MODEL_INPUT_NAMES,
      // This project does not know how a foreign template calls tools.
      ...((template !== chatTemplate || isOurs(tokenizer)) && { response_template: responseTemplate(format) }),
      ...described,
      ...(template !== '' && { chat_template: template }),
    }),
    ...(files['chat_template.jinja'] && { 'chat_template.jinja': new TextEncoder().encode(template) }),
  };
}

async function readTokenizer(files: ModelFiles): Promise<ChatTokenizer | null> {
  if (!files['tokenizer.json'] || !files['tokenizer_config.json']) return null;
  try {
    return await openTokenizer(files);
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** Adds the fields that are absent or null. */
const completed = (own: Record<string, unknown>, more: Record<string, unknown>) => ({
  ...own,
  ...Object.fromEntries(Object.entries(more).filter(([name]) => (own[name] ?? null) === null)),
});

const contentOf = (token: unknown): string | undefined => {
  const text = isObject(token) ? token.content : token;
  return typeof text === 'string' ? text : undefined;
};
