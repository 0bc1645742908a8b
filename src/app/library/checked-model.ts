/** @file Checks a model before it is stored. */
import type { ModelParts } from '../../exchange/model-folder.ts';
import type { ModelRow } from '../../records/model.ts';
import { modelRow } from '../../trainer/stored-models.ts';
import { inModelsWorker } from '../clients/models-worker.ts';

/** The time limit of a check. A check reads each file once; from a fast disk, 3 GB take a few seconds. */
const LIMIT_MS = 300_000;

/**
 * Returns the row to store, like `modelRow`. Checks in a worker, so that no file can freeze the page.
 * @throws Error that names the file and its fault
 */
export const checkedModel = (name: string, files: ModelParts, folder?: string): Promise<ModelRow> =>
  modelRow(
    name,
    files,
    (blobs) => inModelsWorker('the check of the model', (worker) => worker.inspectStored(blobs), { limitMs: LIMIT_MS }),
    folder,
  );
