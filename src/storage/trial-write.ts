/** @file Tests whether the browser can really store a number of bytes. Its own estimate may count disk space that it does not give. */
import { Dexie } from 'dexie';

const NAME = 'mua-trial-write';

/** Writes `bytes` bytes to the disk, and deletes them again. @throws the error of the write, such as QuotaExceededError */
export async function trialWrite(bytes: number): Promise<void> {
  const db = new Dexie(NAME, { chromeTransactionDurability: 'strict' });
  db.version(1).stores({ trial: '' });
  try {
    await db.table('trial').put(new Blob([new Uint8Array(bytes)]), 0);
  } finally {
    await db.delete();
  }
}
