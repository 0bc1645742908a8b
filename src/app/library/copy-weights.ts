/** @file Copies the weights of an imported model that are not in memory to the private file system. */
import type { ModelParts } from '../../exchange/model-folder.ts';
import { modelFolder, removeFolder } from '../../exchange/model-storage.ts';
import { inModelsWorker } from '../clients/models-worker.ts';

/** Gives `store` the files with the copies in their folder. If `store` fails, the copies are removed. @throws what `store` throws */
export async function withCopies<T>(
  name: string,
  files: ModelParts,
  store: (files: ModelParts, folder?: string) => Promise<T>,
): Promise<T> {
  const large = Object.fromEntries(Object.entries(files).filter((entry): entry is [string, Blob] => entry[1] instanceof Blob));
  if (Object.keys(large).length === 0) return store(files);
  const folder = modelFolder(name, crypto.randomUUID());
  const copied = await inModelsWorker('the copy of the model', (worker) => worker.copyFiles(folder, large));
  try {
    return await store({ ...files, ...copied }, folder);
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}
