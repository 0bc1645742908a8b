/** @file Explains errors of IndexedDB to the visitor. */

/** If the disk is full: an error that says what to do. Otherwise the same error. @param others what the visitor could delete */
export function storageError(cause: unknown, what: string, others = 'runs and models'): Error {
  const { name, inner } = cause as Error & { inner?: Error };
  if (name !== 'QuotaExceededError' && inner?.name !== 'QuotaExceededError') return cause as Error;
  return new Error(`the browser has no room for ${what}: free some space on the disk, or delete other ${others}`, { cause });
}
