/**
 * @file Models of the Hugging Face Hub for training. Files are written to the browser's private file system as they arrive: a download
 * that ends early, also with its tab, goes on from its last byte. Weights stay there and are read in pieces.
 */
import { filesAddress, HUB, HubError, type HubFile, hubFiles, resumable } from '../base/hub.ts';
import { isModelFile } from './model-files.ts';

/** Small models that the engine trains. */
export const HUB_MODELS = ['Qwen/Qwen3-0.6B', 'Qwen/Qwen2.5-0.5B-Instruct', 'Qwen/Qwen3-1.7B'] as const;

/** What would be downloaded. */
export interface HubModel {
  /** OWNER/NAME. */
  name: string;
  hub: string;
  /** The commit that the files are of. */
  revision: string;
  files: HubFile[];
  /** Of all files. */
  bytes: number;
  /** Bytes that an earlier download left here. */
  here: number;
}

/** What is here of a model. */
export interface Download {
  name: string;
  bytes: number;
  /** The folder with its files. */
  folder: string;
}

const DOWNLOADS = 'downloads';
/** How much arrives between two looks at what is on the disk. */
const FLUSH_BYTES = 16 * 2 ** 20;

const downloads = async (): Promise<FileSystemDirectoryHandle> =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(DOWNLOADS, { create: true });

/** Where the files of a model are while they arrive. */
export const downloadFolder = ({ name, revision }: Pick<HubModel, 'name' | 'revision'>) => `${name.replace('/', '--')}@${revision}`;

/** @throws HubError as `hubFiles`; (`files`) if the model has no weights as safetensors */
export async function findHubModel(name: string, hub: string = HUB, signal?: AbortSignal): Promise<HubModel> {
  const { revision, files } = await hubFiles(name, HUB_MODELS[0], hub, signal);
  // Some models have their weights twice: in one file, and in shards.
  const single = files.some(({ path }) => path === 'model.safetensors');
  const isShard = (path: string) => /^model-\d+-of-\d+\.safetensors$|\.index\.json$/.test(path);
  const wanted = files.filter(({ path }) => isModelFile(path) && !(single && isShard(path)));
  if (!wanted.some(({ path }) => path.endsWith('.safetensors')) || !wanted.some(({ path }) => path === 'config.json'))
    throw new HubError(
      `"${name}" has no config.json with *.safetensors: expected a Qwen2 or Qwen3 model such as ${HUB_MODELS[0]}`,
      'files',
    );
  const model = { name, hub, revision, files: wanted, bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0), here: 0 };
  const folder = await (await downloads()).getDirectoryHandle(downloadFolder(model)).catch(() => null);
  return { ...model, here: folder ? await bytesIn(folder) : 0 };
}

async function bytesIn(folder: FileSystemDirectoryHandle): Promise<number> {
  let bytes = 0;
  for await (const handle of folder.values()) if (handle.kind === 'file') bytes += (await (handle as FileSystemFileHandle).getFile()).size;
  return bytes;
}

/** All downloads, complete or not. */
export async function downloadsHere(): Promise<Download[]> {
  const found: Download[] = [];
  for await (const [folder, handle] of (await downloads()).entries())
    if (handle.kind === 'directory')
      found.push({
        name: folder.slice(0, folder.lastIndexOf('@')).replace('--', '/'),
        bytes: await bytesIn(handle as FileSystemDirectoryHandle),
        folder,
      });
  return found;
}

/** The files of a download. They are on the disk, not in memory. @throws HubError if they were removed */
export async function downloadedFiles(folder: string): Promise<Record<string, File>> {
  const directory = await (await downloads()).getDirectoryHandle(folder).catch(() => {
    throw new HubError(`the downloaded files of ${folder} are gone: expected them in this browser's storage`, 'files');
  });
  const files: Record<string, File> = {};
  for await (const [name, handle] of directory.entries())
    if (handle.kind === 'file') files[name] = await (handle as FileSystemFileHandle).getFile();
  return files;
}

/** Removes what was downloaded. */
export async function discardDownload(folder: string): Promise<void> {
  await (await downloads()).removeEntry(folder, { recursive: true });
}

/**
 * Downloads what is missing. Only in a worker, as only workers write to files in place. Two tabs cannot download the same model at once.
 * @param onProgress gets the bytes that are here, and the bytes of all files
 * @returns as `downloadedFiles`
 * @throws HubError; DOMException (QuotaExceededError) if the storage is full
 */
export async function downloadHubModel(model: HubModel, onProgress: (here: number, bytes: number) => void): Promise<Record<string, File>> {
  const folder = await (await downloads()).getDirectoryHandle(downloadFolder(model), { create: true });
  await checkRoom(model);
  const base = filesAddress(model.name, model.revision, model.hub);
  let here = 0;
  // The small files come first: a model that cannot be trained is refused early.
  for (const file of [...model.files].sort((a, b) => a.bytes - b.bytes)) {
    const handle = await folder.getFileHandle(file.path, { create: true });
    const before = here;
    await complete(handle, base, file, (own) => {
      here = before + own;
      onProgress(here, model.bytes);
    });
  }
  return downloadedFiles(downloadFolder(model));
}

/** @throws HubError if the storage has too little room for the rest of the download */
async function checkRoom({ name, bytes, here }: HubModel): Promise<void> {
  const { quota = Infinity, usage = 0 } = await navigator.storage.estimate();
  const needed = bytes - here;
  if (quota - usage < needed)
    throw new HubError(`this browser can store ${Math.max(0, quota - usage)} more bytes: expected ${needed} for "${name}"`, 'files');
}

async function complete(handle: FileSystemFileHandle, base: string, file: HubFile, onProgress: (here: number) => void): Promise<void> {
  const access = await handle.createSyncAccessHandle().catch((error: unknown) => {
    const taken = error instanceof DOMException && error.name === 'NoModificationAllowedError';
    throw taken ? new HubError(`${file.path} is being downloaded in another tab: expected one download at a time`, 'files') : error;
  });
  try {
    let at = access.getSize();
    if (at > file.bytes) access.truncate((at = 0));
    onProgress(at);
    if (at === file.bytes) return;
    let flushed = at;
    const reader = resumable(base + file.path, file, { from: at }).getReader();
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      at += access.write(step.value, { at });
      if (at - flushed >= FLUSH_BYTES) {
        access.flush();
        flushed = at;
      }
      onProgress(at);
    }
  } finally {
    access.flush();
    access.close();
  }
}
