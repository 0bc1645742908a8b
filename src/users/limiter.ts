/** @file Waiting: for a turn among a few, and for time to pass; both end early when a signal aborts. */

/** Runs at most `slots` tasks at once, the others in the order they came. */
export class Limiter {
  private readonly queue: (() => void)[] = [];

  constructor(private slots: number) {}

  /** @throws the signal's reason when it aborts before the task's turn, and what the task throws. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.slots > 0) this.slots -= 1;
    else await this.turn(signal);
    try {
      return await task();
    } finally {
      // A slot goes to the next in line without being free in between.
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
