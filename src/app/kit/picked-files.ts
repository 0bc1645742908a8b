/** @file Lists the files, with their paths, that the visitor chose or dropped, also inside folders. */

export type PickedFile = readonly [path: string, file: File];

/** Folders that are skipped, because they can hold thousands of files that are not data. */
const SKIPPED = /(^|\/)(\.[^/]+|node_modules|__pycache__|__MACOSX|venv)\//;
const BENCHMARK = /\.(json|toml|md|zip)$/i;

/** The files that an import of a benchmark can read. The others need not be sent to the worker. */
export const benchmarkFiles = (files: readonly PickedFile[]): PickedFile[] =>
  files.filter(([path]) => BENCHMARK.test(path) && !SKIPPED.test(path));

/** The files of an `<input type="file">`, with their paths if a folder was chosen. */
export const chosenFiles = (list: Iterable<File>): PickedFile[] => [...list].map((file) => [file.webkitRelativePath || file.name, file]);

/** The dropped files, also those in folders. Reads the entries before the first `await`, because the browser then clears the list. */
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
    // Each call of the reader returns some of the entries. An empty list means that there are no more.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const child of entries) found.push(...(await filesBelow(child)));
  }
}
