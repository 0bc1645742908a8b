/** Writes and reads rows in the browser's storage, as the app does. */
import type { Page } from '@playwright/test';

/**
 * Stores rows: table → rows. A page of the app must be open, because the app makes the tables. The page shows the rows after
 * a reload or its next query.
 */
export async function store(page: Page, tables: Record<string, readonly object[]>): Promise<void> {
  await page.evaluate(
    (json) =>
      new Promise<void>((resolve, reject) => {
        const open = indexedDB.open('mua-runs');
        open.onerror = () => reject(open.error!);
        open.onsuccess = () => {
          const rows = Object.entries(JSON.parse(json) as Record<string, unknown[]>);
          const writing = open.result.transaction(
            rows.map(([table]) => table),
            'readwrite',
          );
          for (const [table, all] of rows) for (const row of all) writing.objectStore(table).put(row);
          writing.onerror = () => reject(writing.error!);
          writing.oncomplete = () => {
            open.result.close();
            resolve();
          };
        };
      }),
    JSON.stringify(tables),
  );
}

/** All rows of a table. */
export async function stored<T>(page: Page, table: string): Promise<T[]> {
  return JSON.parse(
    await page.evaluate(
      (name) =>
        new Promise<string>((resolve, reject) => {
          const open = indexedDB.open('mua-runs');
          open.onerror = () => reject(open.error!);
          open.onsuccess = () => {
            const reading = open.result.transaction(name).objectStore(name).getAll();
            reading.onerror = () => reject(reading.error!);
            reading.onsuccess = () => {
              open.result.close();
              resolve(JSON.stringify(reading.result));
            };
          };
        }),
      table,
    ),
  ) as T[];
}
