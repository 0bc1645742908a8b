/** @file Explains errors of IndexedDB to the visitor. */

const FULL = 'QuotaExceededError';

/** Whether a write failed because the storage is full. It checks the error's name, because an error from a worker loses its class. */
export function isStorageFull(cause: unknown): boolean {
  const { name, inner } = cause as Error & { inner?: Error };
  return name === FULL || inner?.name === FULL;
}

/** If the storage is full, returns an error that says what to do, else `cause`. @param others what the visitor could delete */
export function storageError(cause: unknown, what: string, others = 'runs and models'): Error {
  if (!isStorageFull(cause)) return cause as Error;
  const error = new Error(`the browser has no room for ${what}: free some space on the disk, or delete other ${others}`, { cause });
  return Object.assign(error, { name: FULL });
}
