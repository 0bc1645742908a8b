/** @file Runs work on models in a new worker. */
import type * as comlink from 'comlink';
import type { zipExport } from '../../trainer/export-folder.ts';
import type { downloadHubModel } from '../../exchange/hub-model.ts';
import type { readModelFiles } from '../../exchange/model-files.ts';
import type { copyFiles } from '../../exchange/model-storage.ts';
import type { ModelFiles } from '../../records/model.ts';
import type { inspectStored } from '../../trainer/stored-models.ts';
import { inWorker, type WorkOptions } from './in-worker.ts';

interface ModelsWorker {
  copyFiles: typeof copyFiles;
  downloadHubModel: typeof downloadHubModel;
  zipExport: typeof zipExport;
  keepCustomer(name: string, files: ModelFiles, precision: 'f32' | 'f16'): Promise<void>;
  readModelFiles: typeof readModelFiles;
  inspectStored: typeof inspectStored;
}

/** @throws as `inWorker` */
export const inModelsWorker = <T>(what: string, work: (worker: comlink.Remote<ModelsWorker>) => Promise<T>, options?: WorkOptions) =>
  inWorker(new Worker(new URL('../../../workers/models.worker.ts', import.meta.url), { type: 'module' }), what, work, options);
