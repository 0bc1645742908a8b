/** @file What of a chosen or dropped folder may belong to a benchmark, with its path. */

export type PickedFile = [path: string, file: File];

/** Folders of a repository that hold no data, and thousands of files. */
const SKIPPED = /(^|\/)(\.[^/]+|node_modules|__pycache__|__MACOSX|venv)\//;
const WANTED = /\.(json|toml|md|zip)$/i;

/** Only what an import may read; thousands of other files would have to be sent to the worker for nothing. */
export function pickFiles(files: Iterable<PickedFile>): PickedFile[] {
  return [...files].filter(([path]) => WANTED.test(path) && !SKIPPED.test(path));
}

/** Files of an `<input type="file">`, with their paths where a folder was chosen. */
export const listedFiles = (list: Iterable<File>): PickedFile[] => pickFiles([...list].map((file): PickedFile => [file.webkitRelativePath || file.name, file]));

/** Files and whole folders that were dropped. The entries must be asked for before anything is awaited: the list is then gone. */
export async function droppedFiles(items: Iterable<DataTransferItem>): Promise<PickedFile[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return pickFiles((await Promise.all(entries.map((entry) => filesBelow(entry)))).flat());
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
