/** @file Takes a folder of this machine as a customer model: checks its files, then stores them in the browser. */
import type { OnnxDtype } from '../records/user.ts';
import { checkFolder } from './check.ts';
import { keepModel, removeModel, type SourceFile } from './library.ts';
import { holdsWeights, isDescription } from './precision.ts';

/** A file of the folder: its path in the folder, its size, and its content. */
export interface FolderFile {
  path: string;
  bytes: number;
  open: () => Promise<Response>;
}

/** The name and the files of the folder that the visitor chose. Each path in `picked` begins with the folder's name. */
export function readPicked(picked: readonly (readonly [chosen: string, file: File])[]): { name: string; files: FolderFile[] } {
  const [first] = picked;
  const name = first?.[0].includes('/') ? first[0].split('/')[0]! : '';
  return {
    name: name || 'folder',
    files: picked.map(([chosen, file]) => ({
      path: name ? chosen.slice(name.length + 1) : chosen,
      bytes: file.size,
      open: async () => new Response(file),
    })),
  };
}

/** As `keepFolder`, with the content of each file. */
export const keepFiles = (name: string, precision: OnnxDtype, files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>): Promise<void> =>
  keepFolder(
    name,
    precision,
    Object.entries(files).map(([path, bytes]) => ({ path, bytes: bytes.length, open: async () => new Response(bytes) })),
  );

/** Checks the folder and stores it. It replaces a stored folder with the same name and precision. @throws LocalError */
export async function keepFolder(
  name: string,
  precision: OnnxDtype,
  files: readonly FolderFile[],
  onProgress?: (loaded: number, total: number) => void,
): Promise<void> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  await checkFolder({ model: name, precision }, [...byPath.keys()], async (path) => (await byPath.get(path)!.open()).text());
  const needed = files.filter(({ path }) => isDescription(path) || holdsWeights(path, precision));
  const sources = needed.map(({ path, bytes, open }): SourceFile => ({ path, bytes, open: async () => (await open()).body! }));
  await removeModel({ source: 'folder', model: name, precision });
  await keepModel({ source: 'folder', model: name, precision }, sources, onProgress);
}
