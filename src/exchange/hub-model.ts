/**
 * @file Downloads models from the Hugging Face Hub for training. Bytes are written to the disk as they arrive. So a download that ends
 * early, for example because its tab was closed, can continue from its last byte.
 */
import { filesAddress, HUB, HubError, type HubFile, hubFiles, resumable } from '../base/hub.ts';
import { isModelFile } from './model-files.ts';
import { bytesIn, checkRoom, completeFile, filesIn, modelFolder } from './model-storage.ts';

/** Small models that the engine trains. */
export const HUB_MODELS = ['Qwen/Qwen3-0.6B', 'Qwen/Qwen2.5-0.5B-Instruct', 'Qwen/Qwen3-1.7B'] as const;

/** A model that can be downloaded. */
export interface HubModel {
  /** OWNER/NAME. */
  name: string;
  hub: string;
  /** The commit of the files. */
  revision: string;
  files: HubFile[];
  /** The size of all files together. */
  bytes: number;
  /** Number of bytes that this browser has from an earlier download. */
  here: number;
}

/** The folder of a model's files, both during and after the download. */
export const downloadFolder = ({ name, revision }: Pick<HubModel, 'name' | 'revision'>): string => modelFolder(name, revision);

/** Finds a model's files on the Hub. @throws HubError as `hubFiles`; HubError (`files`) if it has no safetensors or no config.json */
export async function findHubModel(name: string, hub: string = HUB, signal?: AbortSignal): Promise<HubModel> {
  const { revision, files } = await hubFiles(name, HUB_MODELS[0], hub, signal);
  // Some models have their weights twice: in one file, and in shards. Then the shards are not needed.
  const single = files.some(({ path }) => path === 'model.safetensors');
  const isShard = (path: string) => /^model-\d+-of-\d+\.safetensors$|\.index\.json$/.test(path);
  const wanted = files.filter(({ path }) => isModelFile(path) && !(single && isShard(path)));
  if (!wanted.some(({ path }) => path.endsWith('.safetensors')) || !wanted.some(({ path }) => path === 'config.json'))
    throw new HubError(
      `"${name}" has no config.json with *.safetensors: expected a Qwen2 or Qwen3 model such as ${HUB_MODELS[0]}`,
      'files',
    );
  const model = { name, hub, revision, files: wanted, bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0), here: 0 };
  return { ...model, here: await bytesIn(downloadFolder(model)) };
}

/**
 * Downloads the bytes that are missing. It works only in a worker.
 * @param onProgress gets the number of bytes that this browser has, and the number of bytes of all files
 * @returns as `filesIn`
 * @throws HubError; as `completeFile` and `checkRoom`
 */
export async function downloadHubModel(model: HubModel, onProgress: (here: number, bytes: number) => void): Promise<Record<string, File>> {
  const folder = downloadFolder(model);
  await checkRoom(model.name, model.bytes - model.here);
  const base = filesAddress(model.name, model.revision, model.hub);
  let here = 0;
  // The small files come first, so that a refused connection shows early.
  for (const file of [...model.files].sort((a, b) => a.bytes - b.bytes)) {
    const open = (from: number) => resumable(base + file.path, file, { from });
    await completeFile(folder, file, open, (own) => onProgress(here + own, model.bytes));
    here += file.bytes;
  }
  return filesIn(folder);
}
