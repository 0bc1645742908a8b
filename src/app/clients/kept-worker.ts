/** @file A worker of the page that answers questions until the page ends. The first question starts it. */
import * as comlink from 'comlink';

interface Running<Api> {
  api: comlink.Remote<Api>;
  failure: Promise<never>;
  end(reason: Error): void;
}

export class KeptWorker<Api> {
  #running: Running<Api> | null = null;

  /** @param what names the worker in an error */
  constructor(
    private readonly what: string,
    private readonly create: () => Worker,
  ) {}

  /** Asks the worker. @throws the worker's error, or an error if the worker dies. (comlink alone would wait forever.) */
  ask<T>(question: (api: comlink.Remote<Api>) => Promise<T>): Promise<T> {
    const { api, failure } = (this.#running ??= this.#start());
    return Promise.race([question(api), failure]);
  }

  /** Ends the worker, for example because a file keeps it busy. All open questions reject with the reason. */
  end(reason: Error): void {
    this.#running?.end(reason);
  }

  #start(): Running<Api> {
    const worker = this.create();
    let reject: (reason: Error) => void;
    const failure = new Promise<never>((_, fail) => (reject = fail));
    failure.catch(() => {}); // Each open question rejects with this error.
    const end = (reason: Error) => {
      this.#running = null; // The next question starts a new worker.
      worker.terminate();
      reject(reason);
    };
    worker.addEventListener('error', ({ message }) => end(new Error(`${this.what} failed: ${message || 'its script did not load'}`)));
    return { api: comlink.wrap<Api>(worker), failure, end };
  }
}
