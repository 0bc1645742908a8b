/** @file Runs work in a new worker, which is ended when the work is done, takes too long, or is cancelled. */
import * as comlink from 'comlink';

/** The time limit of work that reads files of strangers. Reading 512 MiB takes less than a minute. */
export const READ_LIMIT_MS = 300_000;

export interface WorkOptions {
  limitMs?: number;
  signal?: AbortSignal;
}

/**
 * @param what names the work in an error
 * @throws what the work throws; Error if the worker fails or takes longer than `limitMs`; the reason of `signal`
 */
export async function inWorker<Api, T>(
  worker: Worker,
  what: string,
  work: (api: comlink.Remote<Api>) => Promise<T>,
  { limitMs, signal }: WorkOptions = {},
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const failure = new Promise<never>((_, reject) => {
      worker.addEventListener('error', ({ message }) => reject(new Error(`${what} failed: ${message || 'the worker did not load'}`)));
      if (signal?.aborted) reject(signal.reason as Error);
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (limitMs !== undefined)
        timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs / 1000} s and was ended`)), limitMs);
    });
    return await Promise.race([work(comlink.wrap<Api>(worker)), failure]);
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
