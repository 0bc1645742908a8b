/** @file Reads files of strangers in a new worker, because a file can be made so that a reader never ends. */
import * as comlink from 'comlink';
import type { ReadOptions, RunBundle } from '../../exchange/run-bundle.ts';
import type { readExperiment } from '../../experiments/file.ts';
import type { ForeignFile } from '../../formats/read-foreign.ts';
import type { readNotedDataset } from '../../training/dataset.ts';
import { inWorker, READ_LIMIT_MS } from './in-worker.ts';

type ReadProgress = NonNullable<ReadOptions['onProgress']>;

/** What `workers/imports.worker.ts` does. */
interface ImportsWorker {
  readBundle(file: Blob, onProgress: ReadProgress): Promise<RunBundle>;
  readForeign(files: readonly File[], onProgress: ReadProgress): Promise<ForeignFile>;
  readExperiment: typeof readExperiment;
  readNotedDataset: typeof readNotedDataset;
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

/** As `readNotedDataset`. */
export const readDatasetText = (text: string) => read((worker) => worker.readNotedDataset(text));
