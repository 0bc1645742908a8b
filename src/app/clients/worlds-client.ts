/** @file The page's connection to the worker that holds the worlds. The first question starts the worker. */
import * as comlink from 'comlink';
import type { WorldBrowser } from '../../worlds/browser.ts';

interface Connection {
  browser: comlink.Remote<WorldBrowser>;
  failure: Promise<never>;
  end(reason: Error): void;
}

let connection: Connection | null = null;

function connect(): Connection {
  const worker = new Worker(new URL('../../../workers/worlds.worker.ts', import.meta.url), { type: 'module' });
  let reject: (reason: Error) => void;
  const failure = new Promise<never>((_, fail) => (reject = fail));
  failure.catch(() => {}); // Each open question rejects with this error.
  const end = (reason: Error) => {
    connection = null; // The next question starts a new worker.
    worker.terminate();
    reject(reason);
  };
  worker.addEventListener('error', ({ message }) =>
    end(new Error(`the worker of the worlds failed: ${message || 'its script did not load'}`)),
  );
  return { browser: comlink.wrap<WorldBrowser>(worker), failure, end };
}

/** Ends the worker, for example because a file keeps it busy. All open questions reject with the reason. */
export const endWorlds = (reason: Error): void => connection?.end(reason);

/** Asks the worker. @throws the worker's error, or an error if the worker dies. (comlink alone would wait forever.) */
export function askWorlds<T>(question: (browser: comlink.Remote<WorldBrowser>) => Promise<T>): Promise<T> {
  connection ??= connect();
  return Promise.race([question(connection.browser), connection.failure]);
}
