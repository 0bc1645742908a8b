/** @file Opens the files of a customer model, from the page, from this browser's storage, or from the Hub. */
import type { LocalModel } from '../records/user.ts';
import { bundledFile, bundledPaths } from './bundled.ts';
import { downloadModel } from './hub.ts';
import { storedFile, storedModel } from './library.ts';
import { LocalError } from './local-error.ts';

export interface ModelSource {
  paths: readonly string[];
  /** Returns a file. Null if the model has no such file. */
  file: (path: string) => Promise<Response | null>;
}

/** Opens a model. If a model from the Hub is not stored in this browser, it is downloaded first. @throws LocalError */
export async function openModel(model: LocalModel, onProgress?: (loaded: number, total: number) => void): Promise<ModelSource> {
  if (model.source === 'bundled') {
    const paths = bundledPaths(model.model);
    if (paths.length === 0) throw new LocalError(`this page has no model "${model.model}": expected a model of the list`, 'files');
    return { paths, file: (path) => bundledFile(model.model, path) };
  }
  if (model.source === 'hub' && !(await storedModel(model))) await downloadModel(model, { ...(onProgress && { onProgress }) });
  const stored = await storedModel(model);
  if (!stored) throw new LocalError(`the folder "${model.model}" is not in this browser: expected it to be chosen again`, 'files');
  return { paths: stored.paths, file: (path) => storedFile(stored, path) };
}
