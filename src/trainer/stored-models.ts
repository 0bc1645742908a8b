/** @file Models that the visitor imported. A model is checked once, stored in this browser, and found by its id. */
import type { ModelFiles } from '../records/model.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { loraLayout, loraTensors } from '../engine/lora.ts';
import { modelParameters, tensorProblems } from '../engine/parameters.ts';
import type { ModelConfig, ModelRow } from '../records/model.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { isBaseWeights, loraOptions, readAdapter, withTrained } from '../exchange/adapter-folder.ts';
import { filesFromGguf } from '../exchange/gguf/gguf-folder.ts';
import { isModelFile } from '../exchange/model-files.ts';
import { inMemory, inOneLine, ModelFolderError, type ModelParts, openModel } from '../exchange/model-folder.ts';
import { filesIn } from '../exchange/model-storage.ts';
import { checkFinite } from '../exchange/safetensors.ts';
import type { RunDatabase } from '../storage/database.ts';
import { bundledModels, fetchBundledModel } from '../exchange/bundled-models.ts';
import { checkpointWeights } from './checkpoints.ts';
import { startingFiles } from './starting-weights.ts';

type ModelFacts = Pick<ModelRow, 'config' | 'parameters'>;

export const parameterCount = (config: ModelConfig) => modelParameters(config).reduce((sum, { size }) => sum + size, 0);

/**
 * Checks that the engine can train the model, and that conversations can be written for it. Weights are read in pieces.
 * @throws ModelFolderError, ConfigError, GgufError, SafetensorsError or the tokenizer's Error; the message names the file and what is
 * wrong with it
 */
export async function inspectModel(parts: ModelParts): Promise<ModelFacts> {
  const { config, source } = await openModel(parts);
  const files = inMemory(parts);
  if (hasAdapter(files)) checkAdapter(files, config);
  const tokenizer = await openTokenizer(files);
  if (tokenizer.vocabSize > config.vocab_size)
    throw new ModelFolderError(`tokenizer.json has ${tokenizer.vocabSize} tokens: config.json says vocab_size ${config.vocab_size}`);
  await checkFinite(source);
  return { config, parameters: parameterCount(config) };
}

/** @throws ModelFolderError that names the tensors of the adapter that do not fit */
function checkAdapter(files: ModelFiles, config: ModelConfig): void {
  const { config: lora, tensors } = readAdapter(files);
  const problems = tensorProblems(loraLayout(loraTensors(config, loraOptions(lora))).parameters, tensors);
  if (problems.length > 0) throw new ModelFolderError(`adapter_model.safetensors: ${inOneLine(problems)}`);
}

/** Calls `inspectModel` for files in their stored form. `made` are the files that follow from a GGUF file. */
export async function inspectStored(files: Record<string, Blob>): Promise<ModelFacts & { made: ModelFiles }> {
  const parts = await partsOf(files);
  const made = await filesFromGguf(parts);
  return { ...(await inspectModel({ ...parts, ...made })), made };
}

/**
 * Makes the row to store.
 * @param inspect does what `inspectStored` does, perhaps in another worker
 * @param folder the folder of the origin-private file system (OPFS) in which the weights stay
 * @throws as `inspect`
 */
export async function modelRow(name: string, files: ModelParts, inspect = inspectStored, folder?: string): Promise<ModelRow> {
  const blobs: ModelRow['files'] = {};
  for (const [file, bytes] of Object.entries(files)) {
    if (!isModelFile(file) || 'url' in bytes) continue;
    blobs[file] = bytes instanceof Blob ? bytes : new Blob([bytes]);
  }
  const { made, ...facts } = await inspect(blobs);
  for (const [file, bytes] of Object.entries(made)) blobs[file] = new Blob([bytes]);
  const row = { id: crypto.randomUUID(), name: name.slice(0, 200), addedAt: Date.now(), ...facts };
  if (folder === undefined) return { ...row, files: blobs };
  const small: ModelRow['files'] = {};
  let bytes = 0;
  for (const [file, blob] of Object.entries(blobs))
    if (isBaseWeights(file)) bytes += blob.size;
    // Copy the bytes: IndexedDB would store only a reference to a file.
    else small[file] = new Blob([await blob.arrayBuffer()]);
  return { ...row, files: small, weights: { folder, bytes } };
}

/** All files of a stored model. @throws InputError if its weights were deleted */
export async function filesOf({ files, weights }: ModelRow): Promise<Record<string, Blob>> {
  if (!weights) return files;
  const large = Object.entries(await filesIn(weights.folder)).filter(([name]) => isBaseWeights(name));
  return { ...files, ...Object.fromEntries(large) };
}

/** The files of a bundled model (by name) or of a stored model (by id). @throws Error if the model does not exist */
export async function modelFiles(db: RunDatabase, model: string): Promise<ModelFiles> {
  if (bundledModels.includes(model)) return fetchBundledModel(model);
  return readBlobs(await filesOf(await storedModel(db, model)));
}

/** Like `modelFiles`, but the weights of a stored model are not read into memory. */
export async function modelParts(db: RunDatabase, model: string): Promise<ModelParts> {
  if (bundledModels.includes(model)) return fetchBundledModel(model);
  return partsOf(await filesOf(await storedModel(db, model)));
}

/** Reads the files into memory, except for the weights. */
async function partsOf(files: Record<string, Blob>): Promise<ModelParts> {
  const small = Object.entries(files).filter(([name]) => !isBaseWeights(name));
  return { ...files, ...(await readBlobs(Object.fromEntries(small))) };
}

async function storedModel(db: RunDatabase, model: string): Promise<ModelRow> {
  const row = await db.models.get(model);
  if (!row) throw new Error(`the model "${model}" is neither bundled nor in this browser's storage; bundled: ${bundledModels.join(', ')}`);
  return row;
}

async function readBlobs(files: Record<string, Blob>): Promise<ModelFiles> {
  const read = Object.entries(files).map(async ([file, blob]) => [file, new Uint8Array(await blob.arrayBuffer())] as const);
  return Object.fromEntries(await Promise.all(read));
}

/**
 * A checkpoint of a run as the files of a Hugging Face folder.
 * @throws Error if the run, the checkpoint or the run's first model was deleted
 */
export async function checkpointFiles(db: RunDatabase, run: string, step: number): Promise<ModelFiles> {
  const row = await db.runs.get(run);
  if (!row) throw new Error(`there is no run "${run}" in this browser`);
  const start = await startingFiles(await modelFiles(db, row.request.model), row.config, row.request.model);
  return inMemory(withTrained(start, await checkpointWeights(db, run, step)));
}
