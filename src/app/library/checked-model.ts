/** @file Checks a model before it is stored. */
import type { ModelParts } from '../../exchange/model-folder.ts';
import type { ModelRow } from '../../records/model.ts';
import { modelRow } from '../../trainer/stored-models.ts';
import { READ_LIMIT_MS } from '../clients/in-worker.ts';
import { inModelsWorker } from '../clients/models-worker.ts';

/**
 * Returns the row to store, like `modelRow`. Checks in a worker, so that no file can freeze the page.
 * @throws Error that names the file and its fault
 */
export const checkedModel = (name: string, files: ModelParts, folder?: string, signal?: AbortSignal): Promise<ModelRow> =>
  modelRow(
    name,
    files,
    (blobs) =>
      inModelsWorker('the check of the model', (worker) => worker.inspectStored(blobs), {
        limitMs: READ_LIMIT_MS,
        ...(signal && { signal }),
      }),
    folder,
  );
