/** @file Files and folders that were chosen or dropped, with their paths. */

export type PickedFile = readonly [path: string, file: File];

/** Folders that hold no data, and thousands of files. */
const SKIPPED = /(^|\/)(\.[^/]+|node_modules|__pycache__|__MACOSX|venv)\//;
const BENCHMARK = /\.(json|toml|md|zip)$/i;

/** Only what an import of a benchmark may read: thousands of other files would have to be sent to the worker for nothing. */
export const benchmarkFiles = (files: readonly PickedFile[]): PickedFile[] => files.filter(([path]) => BENCHMARK.test(path) && !SKIPPED.test(path));

/** Files of an `<input type="file">`, with their paths where a folder was chosen. */
export const chosenFiles = (list: Iterable<File>): PickedFile[] => [...list].map((file) => [file.webkitRelativePath || file.name, file]);

/** Files and whole folders that were dropped. The entries must be asked for before anything is awaited: the list is then gone. */
export async function droppedFiles(items: Iterable<DataTransferItem>): Promise<PickedFile[]> {
  const entries = [...items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return (await Promise.all(entries.map(async (entry) => (entry === null ? [] : entry instanceof File ? chosenFiles([entry]) : filesBelow(entry))))).flat();
}

async function filesBelow(entry: FileSystemEntry): Promise<PickedFile[]> {
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) return [[path, await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))]];
  if (SKIPPED.test(`${path}/`)) return [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: PickedFile[] = [];
  for (;;) {
    // A reader gives some entries at a time, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const child of entries) found.push(...(await filesBelow(child)));
  }
}
