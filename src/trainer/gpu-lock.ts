/**
 * @file One tab at a time uses the GPU. A lock says so to all tabs. A second lock tells what the GPU is used for, and a message
 * tells the other tabs to look.
 */
import { takeLock } from '../base/lock.ts';
import { GPU_USES, type GpuUse, refusedByOtherTab } from './gpu-uses.ts';

const LOCK = 'mua-trainer';
const lockOf = (use: GpuUse) => `${LOCK}/${use}`;

/**
 * Takes the lock for this worker.
 * @returns a function that frees the lock and resolves when other tabs can take it
 * @throws Error that says what another tab uses the GPU for
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

/** The holder says its use a moment after it has the lock, and frees the use first. */
async function heldElsewhere(locks?: LockManager): Promise<string> {
  const use = await gpuHolder(locks);
  return use ? refusedByOtherTab(use) : 'Another tab uses the GPU.';
}

/** The use for which any tab of this browser holds the GPU now, this tab included. */
export async function gpuHolder(locks = globalThis.navigator?.locks): Promise<GpuUse | null> {
  const { held = [] } = (await locks?.query()) ?? {};
  return GPU_USES.find((use) => held.some(({ name, mode }) => name === lockOf(use) && mode === 'exclusive')) ?? null;
}

function announce(): void {
  const channel = new BroadcastChannel(LOCK);
  channel.postMessage(null);
  channel.close();
}

/** Calls `change` when any tab of this browser may have taken or freed the GPU, until the returned function is called. */
export function watchGpu(change: () => void, locks = globalThis.navigator?.locks): () => void {
  const channel = new BroadcastChannel(LOCK);
  const watched = new Set<GpuUse>();
  const look = async () => {
    change();
    const use = await gpuHolder(locks);
    if (!use || watched.has(use)) return;
    // A tab that dies sends no message, but its lock is free then.
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
