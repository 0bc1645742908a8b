/**
 * @file Stores the weights of models in the browser's private file system, with one folder for each model. They are read in pieces, so a
 * model may be larger than memory. IndexedDB is not suitable: Chromium stores only a reference to a large file, which may be gone later.
 */
import { InputError } from '../base/input-error.ts';

/** A stored folder of a model. */
export interface ModelFolder {
  folder: string;
  /** The model's name. */
  name: string;
  bytes: number;
}

const ROOT = 'models';
/** Number of bytes that are written between two flushes to the disk. */
const FLUSH_BYTES = 16 * 2 ** 20;

const root = async (): Promise<FileSystemDirectoryHandle> =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(ROOT, { create: true });

/** Maximum number of characters of the model's name in the name of its folder. */
const MOST_CHARACTERS = 64;

/** The name of a model's folder. @param version tells models with the same name apart */
export const modelFolder = (name: string, version: string) =>
  `${encodeURIComponent(
    Array.from(name.replaceAll(/\p{Cs}/gu, ''))
      .slice(0, MOST_CHARACTERS)
      .join(''),
  )}@${version}`;

export async function modelFolders(): Promise<ModelFolder[]> {
  const found: ModelFolder[] = [];
  for await (const folder of (await root()).keys())
    found.push({ folder, name: decodeURIComponent(folder.slice(0, folder.lastIndexOf('@'))), bytes: await bytesIn(folder) });
  return found;
}

/** Bytes of all files in a folder. 0 if the folder does not exist. */
export async function bytesIn(folder: string): Promise<number> {
  const files = await filesIn(folder).catch(() => ({}));
  return Object.values<File>(files).reduce((sum, { size }) => sum + size, 0);
}

/** The files of a folder. They are on the disk, not in memory. @throws InputError if the folder was removed */
export async function filesIn(folder: string): Promise<Record<string, File>> {
  const directory = await (await root()).getDirectoryHandle(folder).catch(() => {
    throw new InputError(`the files of ${folder} are gone: expected them in this browser's private file system`);
  });
  const files: Record<string, File> = {};
  for await (const [name, handle] of directory.entries())
    if (handle.kind === 'file') files[name] = await (handle as FileSystemFileHandle).getFile();
  return files;
}

export async function removeFolder(folder: string): Promise<void> {
  await (await root()).removeEntry(folder, { recursive: true });
}

/** @throws InputError if the storage has no room for `needed` bytes */
export async function checkRoom(name: string, needed: number): Promise<void> {
  const { quota = Infinity, usage = 0 } = await navigator.storage.estimate();
  if (quota - usage < needed)
    throw new InputError(`this browser can store ${Math.max(0, quota - usage)} more bytes: expected ${needed} for "${name}"`);
}

/**
 * Writes the missing rest of a file that should have `bytes` bytes. It works only in a worker, because only workers can write to files in
 * place. The written bytes stay if the call ends early, even if the tab is closed.
 * @param open returns the file's bytes from byte `from`
 * @param onProgress gets the number of bytes that are on the disk
 * @throws InputError if another tab writes the file; DOMException (QuotaExceededError) if the storage is full
 */
export async function completeFile(
  folder: string,
  { path, bytes }: { path: string; bytes: number },
  open: (from: number) => ReadableStream<Uint8Array<ArrayBuffer>>,
  onProgress: (here: number) => void,
): Promise<void> {
  const directory = await (await root()).getDirectoryHandle(folder, { create: true });
  const handle = await directory.getFileHandle(path, { create: true });
  const access = await handle.createSyncAccessHandle().catch((error: unknown) => {
    const taken = error instanceof DOMException && error.name === 'NoModificationAllowedError';
    throw taken ? new InputError(`${path} is being written in another tab: expected one tab at a time`) : error;
  });
  try {
    let at = access.getSize();
    if (at > bytes) access.truncate((at = 0));
    onProgress(at);
    if (at === bytes) return;
    let flushed = at;
    const reader = open(at).getReader();
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

/** Copies files into a folder. If this fails, it removes the folder. It works only in a worker. @throws as `completeFile`, `checkRoom` */
export async function copyFiles(folder: string, files: Record<string, Blob>): Promise<Record<string, File>> {
  const all = Object.entries(files);
  await checkRoom(
    folder,
    all.reduce((sum, [, { size }]) => sum + size, 0),
  );
  try {
    for (const [path, blob] of all)
      await completeFile(
        folder,
        { path, bytes: blob.size },
        (from) => blob.slice(from).stream(),
        () => {},
      );
  } catch (error) {
    await removeFolder(folder).catch(() => {});
    throw error;
  }
  return filesIn(folder);
}
