/**
 * @file Downloads models from the Hugging Face Hub for training. Bytes are written to the disk as they arrive. So a download that ends
 * early, for example because its tab was closed, can continue from its last byte.
 */
import { filesAddress, HUB, HubError, type HubFile, hubFiles, resumable } from '../base/hub.ts';
import { isModelFile } from './model-files.ts';
import { inOneLine, isGguf } from './model-folder.ts';
import { bytesIn, checkRoom, completeFile, filesIn, modelFolder } from './model-storage.ts';

/** A name, for messages. */
const EXAMPLE = 'Qwen/Qwen3-0.6B';

/** A model that can be downloaded. */
export interface HubModel {
  /** OWNER/NAME, or OWNER/NAME/FILE.gguf. */
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

/** The repository, and the name of the GGUF file, if `name` has one. */
function partsOf(name: string): { repository: string; gguf?: string } {
  const [, repository, gguf] = /^([^/]+\/[^/]+)\/([^/]+\.gguf)$/i.exec(name) ?? [];
  return repository === undefined ? { repository: name } : { repository, gguf: gguf! };
}

/** The folder of a model's files, both during and after the download. */
export function downloadFolder({ name, revision }: Pick<HubModel, 'name' | 'revision'>): string {
  const { gguf } = partsOf(name);
  // The name is cut, so the version tells the files of a repository apart.
  return modelFolder(name, gguf === undefined ? revision : `${revision}-${encodeURIComponent(gguf)}`);
}

/**
 * Finds a model's files on the Hub: safetensors with config.json, or a single GGUF file.
 * @param name OWNER/NAME or OWNER/NAME/FILE.gguf
 * @throws HubError as `hubFiles`; HubError (`files`) if it has no such files, or several GGUF files and `name` says none
 */
export async function findHubModel(name: string, hub: string = HUB, signal?: AbortSignal): Promise<HubModel> {
  const { repository, gguf } = partsOf(name);
  const { revision, files } = await hubFiles(repository, EXAMPLE, hub, signal);
  const whole = gguf === undefined ? folderFiles(files) : [];
  const wanted = whole.length > 0 ? whole : [ggufFile(repository, gguf, files)];
  const model = {
    name: whole.length > 0 ? name : `${repository}/${wanted[0]!.path}`,
    hub,
    revision,
    files: wanted,
    bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0),
    here: 0,
  };
  return { ...model, here: await bytesIn(downloadFolder(model)) };
}

/** The files of a folder with safetensors. Empty if there are none. */
function folderFiles(files: readonly HubFile[]): HubFile[] {
  // Some models have their weights twice: in one file, and in shards. Then the shards are not needed.
  const single = files.some(({ path }) => path === 'model.safetensors');
  const isShard = (path: string) => /^model-\d+-of-\d+\.safetensors$|\.index\.json$/.test(path);
  const wanted = files.filter(({ path }) => isModelFile(path) && !isGguf(path) && !(single && isShard(path)));
  const complete = wanted.some(({ path }) => path.endsWith('.safetensors')) && wanted.some(({ path }) => path === 'config.json');
  return complete ? wanted : [];
}

function ggufFile(repository: string, name: string | undefined, files: readonly HubFile[]): HubFile {
  const found = files.filter(({ path }) => isModelFile(path) && isGguf(path));
  if (found.length === 0)
    throw new HubError(
      `"${repository}" has neither config.json with *.safetensors nor a GGUF file: expected a Qwen2, Qwen3 or Llama model such as ${EXAMPLE}`,
      'files',
    );
  const chosen = name === undefined ? found : found.filter(({ path }) => path === name);
  if (chosen.length === 1) return chosen[0]!;
  const names = inOneLine(
    found.map(({ path }) => `${repository}/${path}`),
    ', ',
  );
  throw new HubError(
    name === undefined
      ? `"${repository}" has several GGUF files: expected one of ${names}`
      : `"${repository}" has no ${name}: expected one of ${names}`,
    'files',
  );
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
  const base = filesAddress(partsOf(model.name).repository, model.revision, model.hub);
  let here = 0;
  // The small files come first, so that a refused connection shows early.
  for (const file of [...model.files].sort((a, b) => a.bytes - b.bytes)) {
    const open = (from: number) => resumable(base + file.path, file, { from });
    await completeFile(folder, file, open, (own) => onProgress(here + own, model.bytes));
    here += file.bytes;
  }
  return filesIn(folder);
}
