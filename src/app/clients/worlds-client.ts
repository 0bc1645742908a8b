/** @file The page's connection to the worker that holds the worlds. */
import type { Remote } from 'comlink';
import type { WorldBrowser } from '../../worlds/browser.ts';
import { KeptWorker } from './kept-worker.ts';

const worlds = new KeptWorker<WorldBrowser>(
  'the worker of the worlds',
  () => new Worker(new URL('../../../workers/worlds.worker.ts', import.meta.url), { type: 'module' }),
);

/** Ends the worker, for example because a file keeps it busy. All open questions reject with the reason. */
export const endWorlds = (reason: Error): void => worlds.end(reason);

/** Asks the worker. @throws the worker's error, or an error if the worker dies */
export const askWorlds = <T>(question: (browser: Remote<WorldBrowser>) => Promise<T>): Promise<T> => worlds.ask(question);
