/** @file Runs work on models in a new worker, and ends the worker when the work is done. */
import * as comlink from 'comlink';
import type { zipExport } from '../../trainer/export-folder.ts';
import type { downloadHubModel } from '../../exchange/hub-model.ts';
import type { copyFiles } from '../../exchange/model-storage.ts';
import type { ModelFiles } from '../../records/model.ts';
import type { inspectStored } from '../../trainer/stored-models.ts';

interface ModelsWorker {
  copyFiles: typeof copyFiles;
  downloadHubModel: typeof downloadHubModel;
  zipExport: typeof zipExport;
  keepCustomer(name: string, files: ModelFiles, precision: 'f32' | 'f16'): Promise<void>;
  inspectStored: typeof inspectStored;
}

/**
 * @param what names the work in an error
 * @throws what the work throws; Error if the worker fails or takes longer than `limitMs`; the reason of `signal`
 */
export async function inModelsWorker<T>(
  what: string,
  work: (worker: comlink.Remote<ModelsWorker>) => Promise<T>,
  { limitMs, signal }: { limitMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const worker = new Worker(new URL('../../../workers/models.worker.ts', import.meta.url), { type: 'module' });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const failure = new Promise<never>((_, reject) => {
      worker.addEventListener('error', ({ message }) => reject(new Error(`${what} failed: ${message || 'the worker did not load'}`)));
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      if (limitMs !== undefined)
        timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs / 1000} s and was ended`)), limitMs);
    });
    return await Promise.race([work(comlink.wrap<ModelsWorker>(worker)), failure]);
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
