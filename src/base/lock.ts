/** @file Takes Web Locks, which all tabs of a browser share. A lock ends when its tab is closed. */

interface LockRequest {
  /** Several holders can have a lock as `shared`, but only one as `exclusive`. Default: `exclusive`. */
  mode?: LockMode;
  /** Whether to wait until the lock is free. Default: false, so a lock that is not free is not taken. */
  wait?: boolean;
  locks?: LockManager | undefined;
}

/**
 * Takes a lock. Where Web Locks do not exist, for example in Node, every lock is free.
 * @returns a function that frees the lock and resolves when others can take it; null if the lock is not free
 */
export async function takeLock(name: string, { mode = 'exclusive', wait = false, ...given }: LockRequest = {}) {
  const locks = 'locks' in given ? given.locks : globalThis.navigator?.locks;
  if (!locks) return async () => {};
  let free = () => {};
  const held = new Promise<void>((resolve) => (free = resolve));
  let ended: Promise<unknown> = Promise.resolve();
  const taken = await new Promise<boolean>((resolve, reject) => {
    ended = locks
      .request(name, { mode, ifAvailable: !wait }, (lock) => {
        resolve(lock !== null);
        return lock && held;
      })
      .catch(reject);
  });
  if (!taken) return null;
  return async () => {
    free();
    await ended;
  };
}
