/** @file One tab at a time uses the GPU: a lock that all tabs see, and that dies with its tab. */

/** Takes the browser-wide lock and returns what releases it; null when it is held already. Outside browsers there is none. */
export function takeTrainerLock(): Promise<(() => void) | null> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(() => {});
  return new Promise((resolve) => {
    void locks.request('mua-trainer', { ifAvailable: true }, (lock) => (lock ? new Promise<void>((release) => resolve(release)) : resolve(null)));
  });
}
