/** @file The worlds worker as the page asks it; started by the first question. */
import * as comlink from 'comlink';
import type { WorldBrowser } from './browser.ts';

interface Connection {
  browser: comlink.Remote<WorldBrowser>;
  failure: Promise<never>;
}

let connection: Connection | null = null;

function connect(): Connection {
  const worker = new Worker(new URL('../../../workers/worlds.worker.ts', import.meta.url), { type: 'module' });
  const failure = new Promise<never>((_, reject) => {
    worker.addEventListener('error', (event) => {
      connection = null; // the next question starts another
      worker.terminate();
      reject(new Error(`the worker of the worlds failed: ${event.message || 'its script did not load'}`));
    });
  });
  failure.catch(() => {}); // heard by whoever asks
  return { browser: comlink.wrap<WorldBrowser>(worker), failure };
}

/** Asks the worker. @throws what it throws; also when it dies, where comlink alone would wait for ever */
export function askWorlds<T>(question: (browser: comlink.Remote<WorldBrowser>) => Promise<T>): Promise<T> {
  connection ??= connect();
  return Promise.race([question(connection.browser), connection.failure]);
}
