/** @file The page's connection to the worker that holds the worlds. The first question starts the worker. */
import * as comlink from 'comlink';
import type { WorldBrowser } from '../../worlds/browser.ts';

interface Connection {
  browser: comlink.Remote<WorldBrowser>;
  failure: Promise<never>;
}

let connection: Connection | null = null;

function connect(): Connection {
  const worker = new Worker(new URL('../../../workers/worlds.worker.ts', import.meta.url), { type: 'module' });
  const failure = new Promise<never>((_, reject) => {
    worker.addEventListener('error', (event) => {
      connection = null; // The next question starts a new worker.
      worker.terminate();
      reject(new Error(`the worker of the worlds failed: ${event.message || 'its script did not load'}`));
    });
  });
  failure.catch(() => {}); // Each open question rejects with this error.
  return { browser: comlink.wrap<WorldBrowser>(worker), failure };
}

/** Asks the worker. @throws the worker's error, or an error if the worker dies. (comlink alone would wait forever.) */
export function askWorlds<T>(question: (browser: comlink.Remote<WorldBrowser>) => Promise<T>): Promise<T> {
  connection ??= connect();
  return Promise.race([question(connection.browser), connection.failure]);
}
