/** @file Chosen or dropped files and folders, with their paths. */

export type PickedFile = readonly [path: string, file: File];

/** Folders with thousands of files that are not data. */
const SKIPPED = /(^|\/)(\.[^/]+|node_modules|__pycache__|__MACOSX|venv)\//;
const BENCHMARK = /\.(json|toml|md|zip)$/i;

/** Only the files that an import of a benchmark can read, so that no other files are sent to the worker. */
export const benchmarkFiles = (files: readonly PickedFile[]): PickedFile[] =>
  files.filter(([path]) => BENCHMARK.test(path) && !SKIPPED.test(path));

/** The files of an `<input type="file">`, with their paths if a folder was chosen. */
export const chosenFiles = (list: Iterable<File>): PickedFile[] => [...list].map((file) => [file.webkitRelativePath || file.name, file]);

/** Dropped files and folders. The entries are read before the first await, because the browser clears the list then. */
export async function droppedFiles(items: Iterable<DataTransferItem>): Promise<PickedFile[]> {
  const entries = [...items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return (
    await Promise.all(
      entries.map(async (entry) => (entry === null ? [] : entry instanceof File ? chosenFiles([entry]) : filesBelow(entry))),
    )
  ).flat();
}

async function filesBelow(entry: FileSystemEntry): Promise<PickedFile[]> {
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) return [[path, await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))]];
  if (SKIPPED.test(`${path}/`)) return [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: PickedFile[] = [];
  for (;;) {
    // A reader returns some entries at a time, and an empty list at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const child of entries) found.push(...(await filesBelow(child)));
  }
}
