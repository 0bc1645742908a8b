/** @file Web Locks, which all tabs of a browser see. A lock ends with its tab. */

interface LockRequest {
  /** Many can hold a lock as `shared`; one can hold it as `exclusive`, which is the default. */
  mode?: LockMode;
  /** Wait until the lock is free. Default: take the lock now or not at all. */
  wait?: boolean;
  locks?: LockManager | undefined;
}

/**
 * Takes a lock. Without Web Locks, as outside browsers, every lock is free.
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
