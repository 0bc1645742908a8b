// @ts-check
/** Input files of score, grad, generate and evaluate, checked before the browser starts. */
import { readJson, readText } from './files.mjs';
import { UsageError } from './errors.mjs';

/**
 * @param {string} path
 * @param {number} vocabSize
 * @returns {Promise<{ sequences: number[][] }>}
 */
export async function readScoreInput(path, vocabSize) {
  const input = await readObject(path);
  knownKeys(path, input, ['sequences']);
  const sequences = list(path, 'sequences', input.sequences);
  sequences.forEach((ids, i) => checkIds(path, `sequences[${i}]`, ids, vocabSize));
  return { sequences };
}

/**
 * @param {string} path
 * @param {number} vocabSize
 */
export async function readGradInput(path, vocabSize) {
  const input = await readObject(path);
  knownKeys(path, input, ['loss', 'config', 'sequences']);
  if (input.loss !== 'sft' && input.loss !== 'grpo') fail(path, 'loss', input.loss, '"sft" or "grpo"');
  if (input.config !== undefined && !isObject(input.config)) fail(path, 'config', input.config, 'an object');
  const grpo = input.loss === 'grpo';
  const needsReference = grpo && input.config?.use_kl_loss !== false && (input.config?.kl_loss_coef ?? input.config?.beta) !== 0;
  const sequences = list(path, 'sequences', input.sequences);
  let masked = 0;
  sequences.forEach((sequence, i) => {
    const name = `sequences[${i}]`;
    if (!isObject(sequence)) fail(path, name, sequence, 'an object');
    knownKeys(path, sequence, ['tokens', 'loss_mask', 'advantage', 'old_logprobs', 'ref_logprobs'], `${name}.`);
    checkIds(path, `${name}.tokens`, sequence.tokens, vocabSize);
    const { length } = sequence.tokens;
    aligned(
      path,
      `${name}.loss_mask`,
      sequence.loss_mask,
      length,
      (value) => value === 0 || value === 1 || typeof value === 'boolean',
      '0 or 1',
    );
    sequence.loss_mask = sequence.loss_mask.map(Number);
    masked += sequence.loss_mask.filter((/** @type {number} */ value, /** @type {number} */ t) => t > 0 && value === 1).length;
    if (grpo && !Number.isFinite(sequence.advantage)) fail(path, `${name}.advantage`, sequence.advantage, 'a number');
    for (const [field, needed] of /** @type {const} */ ([
      ['old_logprobs', grpo],
      ['ref_logprobs', needsReference],
    ])) {
      if (sequence[field] === undefined && !needed) continue;
      // Entry 0 belongs to no prediction: any placeholder is accepted.
      aligned(path, `${name}.${field}`, sequence[field], length, (value, t) => t === 0 || Number.isFinite(value), 'a number');
      sequence[field][0] = 0;
    }
  });
  if (masked === 0) throw new UsageError(`${path}: loss_mask selects no token (entry 0 does not count): expected at least one 1`);
  return /** @type {any} */ (input);
}

/**
 * @param {string} path
 * @param {number} vocabSize
 */
export async function readGenerateInput(path, vocabSize) {
  const input = await readObject(path);
  knownKeys(path, input, ['prompts', 'max_new_tokens', 'temperature', 'seed', 'top_p', 'top_k', 'stop_token_ids']);
  const prompts = list(path, 'prompts', input.prompts);
  prompts.forEach((ids, i) => checkIds(path, `prompts[${i}]`, ids, vocabSize));
  const number = (/** @type {string} */ field, /** @type {(value: number) => boolean} */ valid, /** @type {string} */ expected) => {
    const value = input[field];
    if (typeof value !== 'number' || !valid(value)) fail(path, field, value, expected);
    return value;
  };
  const request = {
    prompts,
    max_new_tokens: number('max_new_tokens', (n) => Number.isInteger(n) && n >= 1, 'a whole number from 1'),
    temperature: input.temperature === undefined ? 1 : number('temperature', (t) => t >= 0 && Number.isFinite(t), 'a number from 0'),
    seed:
      input.seed === undefined
        ? 1
        : number('seed', (s) => Number.isInteger(s) && s >= 0 && s <= 0xffffffff, 'a whole number from 0 to 4294967295'),
    top_p: input.top_p === undefined ? undefined : number('top_p', (p) => p > 0 && p <= 1, 'a number above 0, at most 1'),
    top_k: input.top_k === undefined ? undefined : number('top_k', (k) => Number.isInteger(k) && k >= 0, 'a whole number from 0'),
    stop_token_ids: input.stop_token_ids,
  };
  if (request.stop_token_ids !== undefined && !(Array.isArray(request.stop_token_ids) && request.stop_token_ids.length === 0)) {
    checkIds(path, 'stop_token_ids', request.stop_token_ids, vocabSize);
  }
  return request;
}

/**
 * Ids of a benchmark's tasks: a JSON list of ids (or of tasks with ids), or one id a line.
 * @param {string} path
 * @returns {Promise<string[]>}
 */
export async function readTaskIds(path) {
  const text = await readText(path);
  if (!text.trimStart().startsWith('[')) {
    const ids = text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    if (ids.length === 0) throw new UsageError(`${path}: it is empty: expected task ids, one a line or as a JSON list`);
    return ids;
  }
  return list(path, 'the file', await readJson(path)).map((entry, i) => {
    const id = isObject(entry) ? entry.id : entry;
    return typeof id === 'number' ? String(id) : typeof id === 'string' && id !== '' ? id : fail(path, `[${i}]`, entry, 'a task id');
  });
}

/** @param {string} path */
async function readObject(path) {
  const input = await readJson(path);
  if (!isObject(input)) throw new UsageError(`${path} holds ${show(input)}: expected a JSON object`);
  return input;
}

/**
 * @param {string} path
 * @param {string} name
 * @param {unknown} ids
 * @param {number} vocabSize
 */
function checkIds(path, name, ids, vocabSize) {
  if (!Array.isArray(ids)) fail(path, name, ids, 'an array of token ids');
  if (ids.length === 0) fail(path, name, ids, 'at least one token id');
  const at = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= vocabSize);
  if (at >= 0) fail(path, `${name}[${at}]`, ids[at], `a token id from 0 to ${vocabSize - 1}`);
}

/**
 * @param {string} path
 * @param {string} name
 * @param {any} values
 * @param {number} length
 * @param {(value: unknown, index: number) => boolean} valid
 * @param {string} expected
 */
function aligned(path, name, values, length, valid, expected) {
  if (!Array.isArray(values)) fail(path, name, values, `an array of ${length} entries, one a token`);
  if (values.length !== length) throw new UsageError(`${path}: ${name} has ${values.length} entries: expected ${length}, one a token`);
  const at = values.findIndex((value, i) => !valid(value, i));
  if (at >= 0) fail(path, `${name}[${at}]`, values[at], expected);
}

/**
 * @param {string} path
 * @param {string} name
 * @param {unknown} value
 * @returns {any[]}
 */
function list(path, name, value) {
  if (!Array.isArray(value) || value.length === 0) fail(path, name, value, 'an array with at least one entry');
  return value;
}

/**
 * @param {string} path
 * @param {object} object
 * @param {string[]} known
 * @param {string} [prefix]
 */
function knownKeys(path, object, known, prefix = '') {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new UsageError(`${path}: unknown field ${prefix}${unknown}: expected ${known.join(', ')}`);
}

/**
 * @param {string} path
 * @param {string} name
 * @param {unknown} value
 * @param {string} expected
 * @returns {never}
 */
function fail(path, name, value, expected) {
  throw new UsageError(`${path}: ${name} is ${show(value)}: expected ${expected}`);
}

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} value */
function show(value) {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
