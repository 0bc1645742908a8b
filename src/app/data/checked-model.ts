/** @file Checks a model before it is stored. */
import type { ModelFiles, ModelRow } from '../../records/model.ts';
import { modelRow } from '../../trainer/stored-models.ts';
import { inModelsWorker } from './models-worker.ts';

/** A check reads each file once: a model of 1 GB takes a few seconds. */
const LIMIT_MS = 60_000;

/** The row to store. The check runs in a worker, so that no file can freeze the page. @throws Error that names the file and its fault */
export const checkedModel = (name: string, files: ModelFiles): Promise<ModelRow> =>
  modelRow(name, files, (blobs) => inModelsWorker('the check of the model', (worker) => worker.inspectStored(blobs), LIMIT_MS));
