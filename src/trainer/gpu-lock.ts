/**
 * @file One tab at a time uses the GPU. Web Locks are seen by all tabs, and a lock ends with its tab. A second lock tells the
 * other tabs what the GPU is used for.
 */

/** The work that needs the GPU. Scoring computes the log-probabilities of a stored conversation. */
export const GPU_USES = ['train', 'evaluate', 'play', 'score'] as const;
export type GpuUse = (typeof GPU_USES)[number];

const LOCK = 'mua-trainer';
const lockOf = (use: GpuUse) => `${LOCK}/${use}`;

/**
 * Takes the lock for this worker.
 * @returns a function that frees the lock and resolves when other tabs can take it
 * @throws Error if another tab holds the lock
 */
export async function takeGpu(use: GpuUse, locks = globalThis.navigator?.locks): Promise<() => Promise<void>> {
  if (!locks) return async () => {}; // outside browsers
  let free = () => {};
  const held = new Promise<void>((resolve) => (free = resolve));
  let ended: Promise<unknown> = Promise.resolve();
  const taken = await new Promise<boolean>((resolve, reject) => {
    ended = locks
      .request(LOCK, { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(false);
        return locks.request(lockOf(use), () => {
          resolve(true);
          return held;
        });
      })
      .catch(reject);
  });
  if (!taken) throw new Error('another tab uses the GPU: only one tab can use it at a time');
  return async () => {
    free();
    await ended;
  };
}

/** The use for which any tab of this browser holds the GPU now, this tab included. */
export async function gpuHolder(locks = globalThis.navigator?.locks): Promise<GpuUse | null> {
  const { held = [] } = (await locks?.query()) ?? {};
  return GPU_USES.find((use) => held.some(({ name }) => name === lockOf(use))) ?? null;
}
