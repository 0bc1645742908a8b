/** @file Reads the input files of score, grad, generate and evaluate, and checks them before the browser starts. */
import type { GenerateRequest, GradRequest, ScoreRequest } from '../trainer/messages.ts';
import { readJson, readText } from './files.ts';
import { UsageError } from './errors.ts';

/** Reads `sequences` of token ids, or `texts`. */
export async function readScoreInput(path: string, vocabSize: number): Promise<ScoreRequest> {
  const input = await readObject(path);
  knownKeys(path, input, ['sequences', 'texts']);
  if (input.sequences !== undefined && input.texts !== undefined) fail(path, 'texts', input.texts, 'no texts beside sequences');
  if (input.texts !== undefined) {
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
    return { texts: list(path, 'texts', input.texts).map((text, i) => (isText(text) ? text : fail(path, `texts[${i}]`, text, 'a text'))) };
  }
  const sequences = list(path, 'sequences', input.sequences);
  return { sequences: sequences.map((ids, i) => tokenIds(path, `sequences[${i}]`, ids, vocabSize)) };
}

export async function readGradInput(path: string, vocabSize: number): Promise<GradRequest> {
  const input = await readObject(path);
  knownKeys(path, input, ['loss', 'config', 'sequences']);
  const { loss, config } = input;
  if (loss !== 'sft' && loss !== 'grpo') return fail(path, 'loss', loss, '"sft" or "grpo"');
  if (config !== undefined && !isObject(config)) return fail(path, 'config', config, 'an object');
  const grpo = loss === 'grpo';
  const needsReference = grpo && config?.use_kl_loss !== false && (config?.kl_loss_coef ?? config?.beta) !== 0;
  let masked = 0;
  const sequences = list(path, 'sequences', input.sequences).map((sequence, i): GradRequest['sequences'][number] => {
    const name = `sequences[${i}]`;
    if (!isObject(sequence)) return fail(path, name, sequence, 'an object');
    knownKeys(path, sequence, ['tokens', 'loss_mask', 'advantage', 'old_logprobs', 'ref_logprobs'], `${name}.`);
    const tokens = tokenIds(path, `${name}.tokens`, sequence.tokens, vocabSize);
    const isMark = (value: unknown) => value === 0 || value === 1 || typeof value === 'boolean';
    const loss_mask = aligned(path, `${name}.loss_mask`, sequence.loss_mask, tokens.length, isMark, '0 or 1').map(Number);
    masked += loss_mask.filter((value, t) => t > 0 && value === 1).length;
    if (grpo && !Number.isFinite(sequence.advantage)) return fail(path, `${name}.advantage`, sequence.advantage, 'a number');
    const logprobs = (field: 'old_logprobs' | 'ref_logprobs', needed: boolean) => {
      if (sequence[field] === undefined && !needed) return {};
      // Entry 0 belongs to no prediction, so any placeholder is accepted there.
      const isLogprob = (value: unknown, t: number) => t === 0 || Number.isFinite(value);
      const [, ...rest] = aligned(path, `${name}.${field}`, sequence[field], tokens.length, isLogprob, 'a number');
      return { [field]: [0, ...rest] as number[] };
    };
    return {
      tokens,
      loss_mask,
      ...(sequence.advantage !== undefined && { advantage: sequence.advantage as number }),
      ...logprobs('old_logprobs', grpo),
      ...logprobs('ref_logprobs', needsReference),
    };
  });
  if (masked === 0) throw new UsageError(`${path}: loss_mask selects no token (entry 0 does not count): expected at least one 1`);
  return { loss, ...(config !== undefined && { config }), sequences };
}

export async function readGenerateInput(path: string, vocabSize: number): Promise<GenerateRequest> {
  const input = await readObject(path);
  knownKeys(path, input, ['prompts', 'max_new_tokens', 'temperature', 'seed', 'top_p', 'top_k', 'stop_token_ids']);
  const prompts = list(path, 'prompts', input.prompts).map((ids, i) => tokenIds(path, `prompts[${i}]`, ids, vocabSize));
  const number = (field: string, valid: (value: number) => boolean, expected: string): number => {
    const value = input[field];
    return typeof value === 'number' && valid(value) ? value : fail(path, field, value, expected);
  };
  const isTopP = (p: number) => p > 0 && p <= 1;
  const isTopK = (k: number) => Number.isInteger(k) && k >= 0;
  const stop = input.stop_token_ids;
  return {
    prompts,
    max_new_tokens: number('max_new_tokens', (n) => Number.isInteger(n) && n >= 1, 'a whole number from 1'),
    temperature: input.temperature === undefined ? 1 : number('temperature', (t) => t >= 0 && Number.isFinite(t), 'a number from 0'),
    seed:
      input.seed === undefined
        ? 1
        : number('seed', (s) => Number.isInteger(s) && s >= 0 && s <= 0xffffffff, 'a whole number from 0 to 4294967295'),
    ...(input.top_p !== undefined && { top_p: number('top_p', isTopP, 'a number above 0, at most 1') }),
    ...(input.top_k !== undefined && { top_k: number('top_k', isTopK, 'a whole number from 0') }),
    ...(stop !== undefined && {
      stop_token_ids: Array.isArray(stop) && stop.length === 0 ? [] : tokenIds(path, 'stop_token_ids', stop, vocabSize),
    }),
  };
}

/** Reads ids of a benchmark's tasks: a JSON list of ids (or of tasks with ids), or one id on each line. */
export async function readTaskIds(path: string): Promise<string[]> {
  const text = await readText(path);
  if (!text.trimStart().startsWith('[')) {
    const ids = text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    if (ids.length === 0) throw new UsageError(`${path}: it is empty: expected task ids, one on each line or as a JSON list`);
    return ids;
  }
  return list(path, 'the file', await readJson(path)).map((entry, i) => {
    const id = isObject(entry) ? entry.id : entry;
    return typeof id === 'number' ? String(id) : typeof id === 'string' && id !== '' ? id : fail(path, `[${i}]`, entry, 'a task id');
  });
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  const input = await readJson(path);
  if (!isObject(input)) throw new UsageError(`${path} holds ${show(input)}: expected a JSON object`);
  return input;
}

function tokenIds(path: string, name: string, ids: unknown, vocabSize: number): number[] {
  if (!Array.isArray(ids)) return fail(path, name, ids, 'an array of token ids');
  if (ids.length === 0) return fail(path, name, ids, 'at least one token id');
  return ids.map((id: unknown, i) =>
    typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < vocabSize
      ? id
      : fail(path, `${name}[${i}]`, id, `a token id from 0 to ${vocabSize - 1}`),
  );
}

function aligned(
  path: string,
  name: string,
  values: unknown,
  length: number,
  valid: (value: unknown, index: number) => boolean,
  expected: string,
): unknown[] {
  if (!Array.isArray(values)) return fail(path, name, values, `an array of ${length} entries, one for each token`);
  if (values.length !== length)
    throw new UsageError(`${path}: ${name} has ${values.length} entries: expected ${length}, one for each token`);
  return values.map((value: unknown, i) => (valid(value, i) ? value : fail(path, `${name}[${i}]`, value, expected)));
}

function list(path: string, name: string, value: unknown): unknown[] {
  return Array.isArray(value) && value.length > 0 ? value : fail(path, name, value, 'an array with at least one entry');
}

function knownKeys(path: string, object: object, known: readonly string[], prefix = ''): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new UsageError(`${path}: unknown field ${prefix}${unknown}: expected ${known.join(', ')}`);
}

function fail(path: string, name: string, value: unknown, expected: string): never {
  throw new UsageError(`${path}: ${name} is ${show(value)}: expected ${expected}`);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
