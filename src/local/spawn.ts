/** @file Starts the worker that runs a text-generation model. */
import '../base/content-policy.ts';
import * as comlink from 'comlink';
import type { LocalModelWorker } from './api.ts';

/** A running worker. */
export interface ModelWorker {
  model: LocalModelWorker;
  /** Rejects when the worker fails. */
  death: Promise<never>;
  terminate(): void;
}

export function spawnModelWorker(): ModelWorker {
  const worker = new Worker(new URL('../../workers/local-model.worker.ts', import.meta.url), { type: 'module' });
  const death = new Promise<never>((_, reject) => {
    worker.addEventListener('error', ({ message }) => reject(new Error(message || 'its script did not load')));
    worker.addEventListener('messageerror', () => reject(new Error('a message could not be read')));
  });
  // The caller may not await `death` yet. This handler prevents an unhandled rejection.
  death.catch(() => {});
  // Each method of a comlink proxy returns a promise, as LocalModelWorker requires.
  const remote = comlink.wrap<LocalModelWorker>(worker) as unknown as LocalModelWorker;
  const model: LocalModelWorker = {
    load: (config, onDownload) => remote.load(config, onDownload && comlink.proxy(onDownload)),
    generate: (request) => remote.generate(request),
    stop: () => remote.stop(),
  };
  return { model, death, terminate: () => worker.terminate() };
}
