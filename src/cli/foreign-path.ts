/** @file Reads files of other tools from the disk, with the data of a benchmark if it is given. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { LoadedBenchmark } from '../benchmarks/imported-benchmark.ts';
import { importBenchmarks } from '../benchmarks/import/import.ts';
import { InputError } from '../base/input-error.ts';
import { type ForeignFile, readForeignFiles } from '../formats/read-foreign.ts';
import { dataFiles } from './benchmark-data.ts';
import { readBytes } from './read.ts';

export interface ForeignPath extends ForeignFile {
  /** The name of the file or folder, without its ending. */
  name: string;
  createdAt: number;
}

/**
 * @param path a file or a folder
 * @param data the folder or zip of a benchmark, whose tasks, policy and tools the conversations get
 * @throws InputError if there are no conversations; also the errors of the readers
 */
export async function readForeignPath(path: string, data?: string): Promise<ForeignPath> {
  const info = await stat(path);
  const names = info.isDirectory() ? (await readdir(path)).sort() : [''];
  const files = names
    .filter((name) => name === '' || /\.(jsonl|json|parquet|eval)$/.test(name))
    .map((name) => join(path, name))
    .map((file) => ({ name: basename(file), read: () => readBytes(file) }));
  const file = await readForeignFiles(files, data === undefined ? undefined : worldsOf(data));
  if (file.rollouts.length === 0) throw new InputError(`${path} has no conversations and no metrics`);
  if (data !== undefined && !file.rollouts.some(({ trajectory }) => trajectory.verdict))
    throw new InputError(`--data is ${data}, but ${path} has no results of its tasks`);
  const name = file.model ?? basename(path).replace(/\.(jsonl?|parquet|eval)$/, '');
  return { ...file, name, createdAt: info.birthtimeMs };
}

/** Reads the data once, when a file needs it. */
function worldsOf(data: string): (benchmark: string) => Promise<LoadedBenchmark[]> {
  let read: Promise<LoadedBenchmark[]> | undefined;
  return async (benchmark) => {
    read ??= dataFiles(data)
      .then((files) => importBenchmarks(files.map(([path, file]) => [path, () => readFile(file)] as const)))
      .then((all) => all.map((imported) => ({ id: `${imported.benchmark}/${imported.domain}`, imported })));
    return (await read).filter(({ imported }) => imported.benchmark === benchmark);
  };
}
