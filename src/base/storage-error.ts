/** @file Explains errors of IndexedDB to the visitor. */

const FULL = 'QuotaExceededError';

/** Whether a write failed because there is no room. The name survives the way out of a worker, the class does not. */
export function isStorageFull(cause: unknown): boolean {
  const { name, inner } = cause as Error & { inner?: Error };
  return name === FULL || inner?.name === FULL;
}

/** If the disk is full: an error that says what to do. Otherwise the same error. @param others what the visitor could delete */
export function storageError(cause: unknown, what: string, others = 'runs and models'): Error {
  if (!isStorageFull(cause)) return cause as Error;
  const error = new Error(`the browser has no room for ${what}: free some space on the disk, or delete other ${others}`, { cause });
  return Object.assign(error, { name: FULL });
}
