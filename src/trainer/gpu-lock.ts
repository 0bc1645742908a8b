/**
 * @file Only one tab at a time uses the GPU. A lock shows all tabs that the GPU is in use. A second lock shows what it is used
 * for, and a message tells the other tabs to read these locks.
 */
import { takeLock } from '../base/lock.ts';
import { GPU_USES, type GpuUse, refusedByOtherTab } from './gpu-uses.ts';

const LOCK = 'mua-trainer';
const lockOf = (use: GpuUse) => `${LOCK}/${use}`;

/**
 * Takes the lock for this worker.
 * @returns a function that frees the lock and resolves when other tabs can take it
 * @throws Error that names the use for which another tab holds the GPU
 */
export async function takeGpu(use: GpuUse, locks = globalThis.navigator?.locks): Promise<() => Promise<void>> {
  const free = await takeLock(LOCK, { locks });
  if (!free) throw new Error(await heldElsewhere(locks));
  const untell = await takeLock(lockOf(use), { wait: true, locks });
  announce();
  return async () => {
    await untell?.();
    await free();
    announce();
  };
}

/**
 * The holder takes the second lock, which shows its use, shortly after the first, and frees it before the first. So the use
 * can be unknown for a moment.
 */
async function heldElsewhere(locks?: LockManager): Promise<string> {
  const use = await gpuHolder(locks);
  return use ? refusedByOtherTab(use) : 'Another tab uses the GPU.';
}

/** The use for which any tab of this browser, including this one, holds the GPU now. */
export async function gpuHolder(locks = globalThis.navigator?.locks): Promise<GpuUse | null> {
  const { held = [] } = (await locks?.query()) ?? {};
  return GPU_USES.find((use) => held.some(({ name, mode }) => name === lockOf(use) && mode === 'exclusive')) ?? null;
}

function announce(): void {
  const channel = new BroadcastChannel(LOCK);
  channel.postMessage(null);
  channel.close();
}

/** Calls `change` when a tab of this browser may have taken or freed the GPU. The returned function stops this. */
export function watchGpu(change: () => void, locks = globalThis.navigator?.locks): () => void {
  const channel = new BroadcastChannel(LOCK);
  const watched = new Set<GpuUse>();
  const look = async () => {
    change();
    const use = await gpuHolder(locks);
    if (!use || watched.has(use)) return;
    // A tab that crashes sends no message, but the browser frees its lock.
    watched.add(use);
    const free = await takeLock(lockOf(use), { mode: 'shared', wait: true, locks });
    await free?.();
    watched.delete(use);
    if (channel.onmessage) await look();
  };
  channel.onmessage = () => void look();
  void look();
  return () => {
    channel.onmessage = null;
    channel.close();
  };
}
