/** @file Finds the folders that contain a benchmark's data, by the names of their files. */
import type { Candidate } from '../definition.ts';
import { BENCHMARKS } from '../index.ts';

/** Folders in which no benchmark data is searched. */
const IGNORED = /(^|\/)(node_modules|\.git|__MACOSX)\//;
const NONE: ReadonlyMap<string, string> = new Map();

export function findCandidates(paths: readonly string[]): Candidate[] {
  const folders = new Map<string, Map<string, string>>();
  for (const path of paths) {
    if (IGNORED.test(path)) continue;
    const folder = folderOf(path);
    const files = folders.get(folder) ?? new Map<string, string>();
    folders.set(folder, files.set(path.slice(path.lastIndexOf('/') + 1), path));
  }
  return [...folders].flatMap(([path, files]) => {
    const above = path === '' ? NONE : (folders.get(folderOf(path)) ?? NONE);
    return BENCHMARKS.flatMap(({ name, files: format }): Candidate[] => {
      const found = format.find({ path, files, above, all: paths });
      return found ? [{ benchmark: name, folder: path, ...found }] : [];
    });
  });
}

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
