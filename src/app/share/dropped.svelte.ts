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
  const entries = [...items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const files = await Promise.all(entries.map(async (entry): Promise<PickedFile[]> => {
    if (entry === null) return [];
    if (entry instanceof File) return [[entry.name, entry]];
    const found = entry.isDirectory ? await listing(entry as FileSystemDirectoryEntry) : [entry];
    return Promise.all(found.filter(({ isFile }) => isFile).map(fileOf));
  }));
  return files.flat();
}

async function fileOf(entry: FileSystemEntry): Promise<PickedFile> {
  const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
  return [entry.fullPath.replace(/^\//, ''), file];
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
