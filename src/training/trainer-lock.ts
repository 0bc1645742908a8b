/** @file One tab at a time uses the GPU: a lock that all tabs see, and that dies with its tab. */

/** Holds the browser-wide lock until `until` resolves; false when another tab has it. Outside browsers there is none. */
export function holdTrainerLock(until: Promise<void>): Promise<boolean> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    void locks.request('mua-trainer', { ifAvailable: true }, async (lock) => {
      resolve(lock !== null);
      if (lock) await until;
    });
  });
}
