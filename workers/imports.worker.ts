/** @file The imports worker reads and checks files of strangers. The page ends it if a file makes it hang. */
import * as comlink from 'comlink';
import { type ReadOptions, readRunBundle } from '../src/exchange/run-bundle.ts';
import { readExperiment } from '../src/experiments/file.ts';
import { readForeignFiles } from '../src/formats/read-foreign.ts';
import { readNotedDataset } from '../src/training/dataset.ts';

type ReadProgress = NonNullable<ReadOptions['onProgress']>;

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
    ),
  readExperiment,
  readNotedDataset,
};

comlink.expose(api);
