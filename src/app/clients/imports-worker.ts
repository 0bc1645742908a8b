/** @file Reads files of strangers in a new worker, because a file can be made so that a reader never ends. */
import * as comlink from 'comlink';
import type { ReadOptions, RunBundle } from '../../exchange/run-bundle.ts';
import type { readExperiment } from '../../experiments/file.ts';
import type { ForeignFile } from '../../formats/read-foreign.ts';
import type { DatasetFormat, WrittenDataset } from '../../formats/write-dataset.ts';
import type { JsonRow } from '../../base/json-rows.ts';
import type { ReadDataset } from '../../training/dataset.ts';
import { inWorker, READ_LIMIT_MS } from './in-worker.ts';

type ReadProgress = NonNullable<ReadOptions['onProgress']>;

/** What `workers/imports.worker.ts` does. */
interface ImportsWorker {
  readBundle(file: Blob, onProgress: ReadProgress): Promise<RunBundle>;
  readForeign(files: readonly File[], onProgress: ReadProgress): Promise<ForeignFile>;
  readExperiment: typeof readExperiment;
  readDataset(file: File): Promise<ReadDataset>;
  convertDataset(rows: readonly JsonRow[], format: DatasetFormat): Promise<WrittenDataset>;
}

const read = <T>(work: (worker: comlink.Remote<ImportsWorker>) => Promise<T>, signal?: AbortSignal) =>
  inWorker(
    new Worker(new URL('../../../workers/imports.worker.ts', import.meta.url), { type: 'module' }),
    'the reading of the file',
    work,
    { limitMs: READ_LIMIT_MS, ...(signal && { signal }) },
  );

/** As `readRunBundle`. */
export const readBundleFile = (file: Blob, onProgress: ReadProgress, signal: AbortSignal) =>
  read((worker) => worker.readBundle(file, comlink.proxy(onProgress)), signal);

/** As `readForeignFiles`. */
export const readForeignFiles = (files: readonly File[], onProgress: ReadProgress, signal: AbortSignal) =>
  read((worker) => worker.readForeign(files, comlink.proxy(onProgress)), signal);

/** As `readExperiment`. */
export const readExperimentFile = async (file: File) => {
  const text = await file.text();
  return read((worker) => worker.readExperiment(text, file.name));
};

/** As `readNotedDataset`: JSON Lines, JSON or Parquet. */
export const readDatasetFile = (file: File) => read((worker) => worker.readDataset(file));

export type { DatasetFormat };
/** As `convertDataset`. */
export const convertDataset = (rows: readonly JsonRow[], format: DatasetFormat) => read((worker) => worker.convertDataset(rows, format));
