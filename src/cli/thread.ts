/**
 * @file Runs a command that reads foreign files in a thread. A file can be made so that a reader never ends. The thread can then be
 * ended: by a signal, or because it has not answered for too long.
 */
import { Worker } from 'node:worker_threads';
import { CommandError } from './errors.ts';

/** What a thread of the command line gets as its `workerData`. */
export interface ThreadOrder {
  muaArguments: string[];
  /** Whether stderr is a terminal, and its width. A thread does not know. */
  terminal: { isTTY: boolean; columns?: number | undefined };
}

let script: string | null = null;
/** Sets the script that threads of the command line run. Only the bundled command line has one. */
export const setOwnScript = (path: string): void => void (script = path);
/** Null: the command line is not bundled, so it has no threads. */
export const ownScript = (): string | null => script;

export type FromThread = 'alive' | { code: number };

/** Reading 512 MiB of JSON at once takes less. */
const STALL_MS = 60_000;
const PINGS = 10;

/**
 * @param script the path of the script, which answers each message with `alive`, and sends its exit code at its end
 * @param stallMs how long the thread may be busy without an answer
 * @returns the exit code
 * @throws CommandError if the thread does not answer, or fails
 */
export function runInThread(script: string, muaArguments: string[], stallMs = STALL_MS): Promise<number> {
  const { isTTY = false, columns } = process.stderr;
  const worker = new Worker(script, { workerData: { muaArguments, terminal: { isTTY, columns } } satisfies ThreadOrder, execArgv: [] });
  return new Promise<number>((resolve, reject) => {
    // Pings are counted, and not seconds: a computer may sleep.
    let unanswered = 0;
    let code: number | undefined;
    const timer = setInterval(() => {
      worker.postMessage('ping');
      if (++unanswered <= PINGS) return;
      clearInterval(timer);
      void worker.terminate();
      reject(new CommandError(`a file kept the command busy for ${stallMs / 1000} s without an end: it is damaged, or made to do harm`));
    }, stallMs / PINGS);
    worker.on('message', (message: FromThread) => {
      unanswered = 0;
      if (message !== 'alive') code = message.code;
    });
    worker.once('error', (error) => {
      clearInterval(timer);
      reject(new CommandError(error.message));
    });
    // The thread's output is complete only now.
    worker.once('exit', (exitCode) => {
      clearInterval(timer);
      if (code === undefined) reject(new CommandError(`the thread of the command ended with ${exitCode} and without a result`));
      else resolve(code);
    });
  });
}
