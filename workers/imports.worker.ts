/** @file The imports worker reads and checks files of strangers. The page ends it if a file makes it hang. */
import * as comlink from 'comlink';
import { type ReadOptions, readRunBundle } from '../src/exchange/run-bundle.ts';
import { readExperiment } from '../src/experiments/file.ts';
import { BenchmarkDatabase } from '../src/benchmarks/import/database.ts';
import { readForeignFiles } from '../src/formats/read-foreign.ts';
import { convertDataset } from '../src/formats/convert-dataset.ts';
import { rowsOfFile } from '../src/formats/dataset-file.ts';
import type { DatasetFormat } from '../src/formats/write-dataset.ts';
import type { JsonRow } from '../src/base/json-rows.ts';
import { readNotedDataset } from '../src/training/dataset.ts';

type ReadProgress = NonNullable<ReadOptions['onProgress']>;

/** The imported data of a benchmark in this browser. */
async function importedWorlds(benchmark: string) {
  const database = new BenchmarkDatabase();
  const stored = (await database.list()).filter((one) => one.benchmark === benchmark);
  const worlds = [];
  for (const { id } of stored) worlds.push({ id, imported: await database.read(id) });
  return worlds;
}

const api = {
  readBundle: (file: Blob, onProgress: ReadProgress) => readRunBundle(file, { onProgress }),
  readForeign: (files: readonly File[], onProgress: ReadProgress) =>
    readForeignFiles(
      files.map((file, i) => ({
        name: file.name,
        read: async () => {
          onProgress(i, files.length, file.name);
          return new Uint8Array(await file.arrayBuffer());
        },
      })),
      importedWorlds,
    ),
  readExperiment,
  readDataset: async (file: File) => readNotedDataset(await rowsOfFile(file.name, new Uint8Array(await file.arrayBuffer()))),
  async convertDataset(rows: readonly JsonRow[], format: DatasetFormat) {
    const notes: string[] = [];
    return { ...(await convertDataset(rows, format, (line) => notes.push(line))), notes };
  },
};

comlink.expose(api);
