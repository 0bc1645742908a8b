/**
 * @file Reads and writes a model as a Hugging Face folder: `config.json` with `model.safetensors`, or with shards and their index. The
 * weights may also be in a GGUF file (`gguf/`).
 */
import { configJson, parseConfig } from '../engine/config.ts';
import { ignoredTensors, modelParameters, tensorProblems } from '../engine/parameters.ts';
import type { ModelConfig, ModelFiles } from '../records/model.ts';
import type { TensorMap, WeightSource } from '../engine/types.ts';
import { type FileBytes, openBytes } from './file-bytes.ts';
import { InputError, parserReason, shown } from '../base/input-error.ts';
import { GgufError } from './gguf/gguf-error.ts';
import { openGgufTensors, readGgufTensors } from './gguf/gguf-source.ts';
import { openSafetensors, readSafetensors, SafetensorsError, writeSafetensors } from './safetensors.ts';

export class ModelFolderError extends InputError {
  override name = 'ModelFolderError';
}

const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

/** The files of a model folder. Weights may be Blobs or URLs, which are read in pieces. */
export type ModelParts = Record<string, FileBytes>;

/** The files that are in memory. The weights of a large model are not among them. */
export const inMemory = (files: ModelParts): ModelFiles =>
  Object.fromEntries(Object.entries(files).filter((entry): entry is [string, Uint8Array<ArrayBuffer>] => entry[1] instanceof Uint8Array));

/**
 * Reads the configuration and the weights. `files` are the folder's files by name.
 * @throws ModelFolderError, ConfigError or SafetensorsError naming the file and the fault, or all tensors that are missing, unknown or of a wrong shape
 */
export function loadModel(files: Record<string, Uint8Array>): { config: ModelConfig; weights: TensorMap } {
  const config = parseConfig(readJson(files, 'config.json'));
  const gguf = ggufOf(files);
  const weights =
    gguf !== undefined
      ? inFile(gguf, () => readGgufTensors(files[gguf]!))
      : files[INDEX] && !files[WEIGHTS]
        ? shards(files)
        : tensorsOf(files, WEIGHTS);
  const problems = tensorProblems(modelParameters(config), weights, ignoredTensors(config));
  if (problems.length > 0) throw new ModelFolderError(inOneLine(problems));
  const head = config.tie_word_embeddings ? weights.get(HEAD)?.data : undefined;
  const embeddings = weights.get(EMBEDDINGS)!.data;
  if (head && (head.length !== embeddings.length || head.some((value, i) => value !== embeddings[i]))) throw new ModelFolderError(NOT_TIED);
  for (const name of ignoredTensors(config)) weights.delete(name);
  return { config, weights };
}

/**
 * Reads the configuration and the headers of the weights. The weights are read later, in pieces.
 * @throws as `loadModel`; InputError if a URL cannot be read
 */
export async function openModel(files: ModelParts): Promise<{ config: ModelConfig; source: WeightSource }> {
  const read = inMemory(files);
  const config = parseConfig(readJson(read, 'config.json'));
  const source = await openWeights(files, read);
  const problems = tensorProblems(modelParameters(config), source.tensors, ignoredTensors(config));
  if (problems.length > 0) throw new ModelFolderError(inOneLine(problems));
  if (config.tie_word_embeddings && source.tensors.has(HEAD)) await checkTied(source);
  return { config, source };
}

const HEAD = 'lm_head.weight';
const EMBEDDINGS = 'model.embed_tokens.weight';
const NOT_TIED = `config.json: tie_word_embeddings is true, but tensor ${HEAD} differs from ${EMBEDDINGS}: expected equal tensors, or false`;
const PIECE_BYTES = 2 ** 24;

/** @throws ModelFolderError if the two tensors differ. transformers then uses both. */
async function checkTied({ tensors, read }: WeightSource): Promise<void> {
  const { dtype, shape } = tensors.get(HEAD)!;
  const tied = tensors.get(EMBEDDINGS)!;
  if (dtype !== tied.dtype || String(shape) !== String(tied.shape)) throw new ModelFolderError(NOT_TIED);
  const end = shape.reduce((a, b) => a * b, dtype === 'F32' ? 4 : 2);
  for (let from = 0; from < end; from += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, end - from);
    const [head, embeddings] = await Promise.all([read(HEAD, from, length), read(EMBEDDINGS, from, length)]);
    // A callback for each byte is four times slower, and the head of Qwen3-0.6B has 311 MB.
    for (let i = 0; i < length; i++) if (head[i] !== embeddings[i]) throw new ModelFolderError(NOT_TIED);
  }
}

/** The name of the GGUF file that holds the weights. Undefined if safetensors hold them. @throws ModelFolderError if there are several */
export function ggufOf(files: Record<string, unknown>): string | undefined {
  if (files[WEIGHTS] || files[INDEX]) return undefined;
  const [name, second] = Object.keys(files).filter(isGguf);
  if (second !== undefined) throw new ModelFolderError(`there are several GGUF files: ${name}, ${second}; choose one`);
  return name;
}

export const isGguf = (name: string): boolean => /\.gguf$/i.test(name);

async function openWeights(files: ModelParts, read: ModelFiles): Promise<WeightSource> {
  const gguf = ggufOf(files);
  if (gguf !== undefined) {
    const bytes = await openBytes(files[gguf]!);
    return inFile(gguf, () => openGgufTensors(bytes));
  }
  return files[WEIGHTS] || !files[INDEX] ? openTensors(files, WEIGHTS) : openShards(files, weightMap(read));
}

async function openTensors(files: ModelParts, name: string): Promise<WeightSource> {
  const bytes = await openBytes(fileOf(files, name));
  return inFile(name, () => openSafetensors(bytes));
}

async function openShards(files: ModelParts, map: Record<string, string>): Promise<WeightSource> {
  const places = new Map<string, WeightSource>();
  for (const name of new Set(Object.values(map))) {
    const source = await openTensors(files, name);
    for (const tensor of source.tensors.keys()) {
      if (places.has(tensor)) throw new ModelFolderError(`tensor ${tensor} is in more than one file; the second is ${name}`);
      places.set(tensor, source);
    }
  }
  for (const [tensor, name] of Object.entries(map))
    if (!places.has(tensor)) throw new ModelFolderError(`${INDEX}: tensor ${tensor} is not in ${name}`);
  return {
    tensors: new Map([...places].map(([tensor, { tensors }]) => [tensor, tensors.get(tensor)!])),
    read: (tensor, from, bytes) => places.get(tensor)!.read(tensor, from, bytes),
  };
}

/** Writes the files of a model that `loadModel` and Hugging Face transformers read. */
export function saveModel(config: ModelConfig, weights: TensorMap, dtype: 'F32' | 'BF16' = 'F32'): Record<string, Uint8Array<ArrayBuffer>> {
  const described = { ...configJson(config), torch_dtype: dtype === 'F32' ? 'float32' : 'bfloat16' };
  return {
    'config.json': jsonFile(described),
    [WEIGHTS]: writeSafetensors(weights, dtype),
  };
}

/**
 * Replaces the weights of a folder. Shards, their index, a GGUF file, an adapter and the model card belong to the old weights, so they
 * are dropped.
 * All other files stay, even those that this project does not read.
 * @param weights tensors, or the bytes of a whole `model.safetensors`, which holds `dtype`
 */
export function withWeights(files: ModelParts, weights: TensorMap | Uint8Array<ArrayBuffer>, dtype: 'F32' | 'BF16' = 'F32'): ModelFiles {
  const read = inMemory(files);
  const kept = Object.entries(read).filter(
    ([file]) => !/\.safetensors(\.index\.json)?$|\.gguf$|^(README\.md|adapter_config\.json)$/.test(file),
  );
  const config = readJson(read, 'config.json') as Record<string, unknown>;
  const written = dtype === 'F32' ? 'float32' : 'bfloat16';
  const described = { ...config, torch_dtype: written, ...(config.dtype !== undefined && { dtype: written }) }; // `dtype` is the newer name
  return {
    ...Object.fromEntries(kept),
    'config.json': jsonFile(described),
    [WEIGHTS]: weights instanceof Uint8Array ? weights : writeSafetensors(weights, dtype),
  };
}

export const jsonFile = (value: object) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

/** The maximum number of problems that a message names, because a file may have any number of tensors. */
const MOST_NAMED = 20;

export function inOneLine(problems: readonly string[], separator = '; '): string {
  const rest = problems.length - MOST_NAMED;
  return [...problems.slice(0, MOST_NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])]
    .map((problem) => problem.slice(0, 200))
    .join(separator);
}

export function fileOf<File>(files: Record<string, File>, name: string): File {
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (!file)
    throw new ModelFolderError(
      `${name.slice(0, 200)} is missing; the folder contains: ${inOneLine(Object.keys(files), ', ') || 'nothing'}`,
    );
  return file;
}

/** @throws ModelFolderError if the file is missing or is not JSON */
export function readJson(files: Record<string, Uint8Array>, name: string): unknown {
  const file = fileOf(files, name);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file));
  } catch (error) {
    throw new ModelFolderError(`${name} is not JSON: ${parserReason(error)}`);
  }
}

function tensorsOf(files: Record<string, Uint8Array>, name: string): TensorMap {
  const file = fileOf(files, name);
  return inFile(name, () => readSafetensors(file));
}

/** Runs `read`, and adds the file's name to errors of its format. */
export function inFile<T>(name: string, read: () => T): T {
  const named = (error: unknown): never => {
    const Same = [SafetensorsError, GgufError].find((type) => error instanceof type);
    throw Same ? new Same(`${name}: ${(error as Error).message}`) : error;
  };
  try {
    const value = read();
    return value instanceof Promise ? (value.catch(named) as T) : value;
  } catch (error) {
    return named(error);
  }
}

/** The index of shards: tensor → name of the file that holds it. */
function weightMap(files: Record<string, Uint8Array>): Record<string, string> {
  const map = (readJson(files, INDEX) as { weight_map?: unknown } | null)?.weight_map;
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    throw new ModelFolderError(`${INDEX}: weight_map is ${shown(map)}: expected an object of tensor → file`);
  for (const [tensor, name] of Object.entries(map))
    if (typeof name !== 'string')
      throw new ModelFolderError(`${INDEX}: weight_map: ${tensor} is ${shown(name)}: expected the name of a file`);
  return map as Record<string, string>;
}

function shards(files: Record<string, Uint8Array>): TensorMap {
  const map = weightMap(files);
  const merged: TensorMap = new Map();
  for (const name of new Set(Object.values(map))) {
    for (const [tensor, value] of tensorsOf(files, name)) {
      if (merged.has(tensor)) throw new ModelFolderError(`tensor ${tensor} is in more than one file; the second is ${name}`);
      merged.set(tensor, value);
    }
  }
  for (const [tensor, name] of Object.entries(map)) {
    if (!merged.has(tensor)) throw new ModelFolderError(`${INDEX}: tensor ${tensor} is not in ${name}`);
  }
  return merged;
}
