/** @file Files that were dropped or chosen anywhere, on their way to the page that reads them. */

export type PickedFile = readonly [path: string, file: File];

class HandedOver {
  /** For the import page. */
  run = $state.raw<File | null>(null);
  /** For the models page. */
  model = $state.raw<readonly PickedFile[] | null>(null);
}

export const handedOver = new HandedOver();

/** Where files belong: those of a model folder to the models, anything else is taken for a run. */
export function destination(files: readonly PickedFile[]): 'models' | 'import' {
  return files.some(([path]) => /(^|\/)config\.json$|\.safetensors$/.test(path)) ? 'models' : 'import';
}

/** Files that were dropped, and those of dropped folders, one level deep. The items are gone after the first wait. */
export async function droppedFiles(items: Iterable<DataTransferItem>): Promise<PickedFile[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const nested = await Promise.all(entries.map(async (entry) => (entry.isDirectory ? listing(entry as FileSystemDirectoryEntry) : [entry])));
  const files = nested.flat().filter((entry) => entry.isFile) as FileSystemFileEntry[];
  return Promise.all(files.map(async (entry): Promise<PickedFile> => [entry.fullPath.replace(/^\//, ''), await new Promise<File>((resolve, reject) => entry.file(resolve, reject))]));
}

async function listing(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    // A reader gives some entries at a time, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return found;
    found.push(...entries);
  }
}
