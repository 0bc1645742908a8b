/** Rows put into the browser's storage as if the app had written them. */
import type { Page } from '@playwright/test';

/** By table; they are read when the page is next loaded or asks again. The app has made the tables: a page of it is open. */
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
