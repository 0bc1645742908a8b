/** @file Waits for a free slot, or for some time. A signal ends both waits early. */

/** Runs at most `slots` tasks at once. Other tasks wait in the order in which they came. */
export class Limiter {
  private readonly queue: (() => void)[] = [];

  constructor(private slots: number) {}

  /** @throws the signal's reason if it is aborted before the task starts, and every error of the task */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.slots > 0) this.slots -= 1;
    else await this.turn(signal);
    try {
      return await task();
    } finally {
      // Give the slot directly to the next task in the queue, so that no newer task can take it.
      const next = this.queue.shift();
      if (next) next();
      else this.slots += 1;
    }
  }

  private turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.queue.splice(this.queue.indexOf(start), 1);
        reject(signal!.reason as Error);
      };
      this.queue.push(start);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const leave = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
