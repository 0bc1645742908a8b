/** @file A lock for each run: a tab that trains a run or plays its weights keeps other tabs from deleting the run. */
import { takeLock } from '../base/lock.ts';

const lockOf = (run: string) => `mua-run/${run}`;

/** Protects a run from deletion, until the returned function is called. @throws Error if a tab is deleting the run now */
export async function useRun(run: string): Promise<() => Promise<void>> {
  const free = await takeLock(lockOf(run), { mode: 'shared' });
  if (!free) throw new Error('this run is being deleted');
  return free;
}

/** Deletes a run with `remove`. @throws Error if a tab trains the run or plays its weights */
export async function whileUnused(run: string, remove: () => Promise<void>): Promise<void> {
  const free = await takeLock(lockOf(run));
  if (!free) throw new Error('this run trains, or an evaluation plays its weights, here or in another tab: end that first');
  try {
    await remove();
  } finally {
    await free();
  }
}
