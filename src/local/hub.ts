/** @file Lists the precisions of a customer model on the Hugging Face Hub, and downloads the model. */
import { filesAddress, type HubFile, hubFiles, type HubFiles, resumable } from '../base/hub.ts';
import type { LocalModel, OnnxDtype } from '../records/user.ts';
import { checkFolder } from './check.ts';
import { keepModel, type SourceFile } from './library.ts';
import { LocalError } from './local-error.ts';
import { holdsWeights, isDescription, onnxPath, precisionsOf } from './precision.ts';

/** Small models that follow instructions and have files for transformers.js. */
export const HUB_MODELS = [
  'onnx-community/Qwen3-0.6B-ONNX',
  'onnx-community/Qwen3-1.7B-ONNX',
  'onnx-community/Qwen2.5-0.5B-Instruct',
] as const;

/** The files and precisions of a model on the Hub. */
export interface HubListing extends HubFiles {
  /** The precisions of the model, with the bytes of each download, in the order of `ONNX_DTYPES`. */
  precisions: { precision: OnnxDtype; bytes: number }[];
}

/**
 * Asks the Hub for the files of a model.
 * @throws as `hubFiles`; LocalError (`files`) if the model has no ONNX files
 */
export async function hubListing({ model, hub }: Pick<LocalModel, 'model' | 'hub'>, signal?: AbortSignal): Promise<HubListing> {
  const { revision, files } = await hubFiles(model, HUB_MODELS[0], hub, signal);
  const precisions = precisionsOf(files.map(({ path }) => path)).map((precision) => ({
    precision,
    bytes: neededFiles(files, precision).reduce((sum, { bytes }) => sum + bytes, 0),
  }));
  if (precisions.length === 0)
    throw new LocalError(`"${model}" has no file such as ${onnxPath('q4')}: expected a text-generation model for transformers.js`, 'files');
  return { revision, precisions, files };
}

const neededFiles = (files: HubFile[], precision: OnnxDtype) =>
  files.filter(({ path }) => isDescription(path) || holdsWeights(path, precision));

/**
 * Downloads a model into this browser. If the download fails, nothing of it is stored.
 * @param onProgress gets the number of bytes that have arrived so far, and the number of bytes of all files
 * @throws as `hubListing`, `resumable` and `keepModel`
 */
export async function downloadModel(
  model: LocalModel,
  { onProgress, signal }: { onProgress?: (loaded: number, total: number) => void; signal?: AbortSignal } = {},
): Promise<void> {
  const { revision, files } = await hubListing(model, signal);
  if (!files.some(({ path }) => path === onnxPath(model.precision)))
    throw new LocalError(`${onnxPath(model.precision)} of "${model.model}" is missing: expected one of ${precisionsOf(files.map(({ path }) => path)).join(', ')}`, 'files'); // prettier-ignore
  const base = filesAddress(model.model, revision, model.hub);
  const download = (file: HubFile) => resumable(base + file.path, file, { signal });
  const needed = neededFiles(files, model.precision);
  // The small files come first, so that a model that cannot play a customer is refused before its weights are downloaded.
  const small = new Map<string, Blob>();
  for (const file of needed) if (isDescription(file.path)) small.set(file.path, await new Response(download(file)).blob());
  await checkFolder(model, needed.map(({ path }) => path), (path) => small.get(path)!.text()); // prettier-ignore
  const sources = needed.map((file): SourceFile => ({ ...file, open: async () => small.get(file.path)?.stream() ?? download(file) }));
  await keepModel({ ...model, revision }, sources, onProgress);
}
