/** @file Imports benchmarks from files into the browser's storage. */
import { importBenchmarks } from '../benchmarks/import/import.ts';
import type { BenchmarkDatabase, StoredBenchmark } from '../benchmarks/import/database.ts';
import { importedName } from '../benchmarks/imported-benchmark.ts';
import type { BenchmarkFiles } from '../exchange/file-source.ts';

export type Progress = (done: number, total: number, label: string) => void;

/** Imports files. Only one import can run at a time. */
export class Importer {
  private importing: AbortController | null = null;

  constructor(private readonly database: BenchmarkDatabase) {}

  /**
   * Imports all domains in the files. If one fails, nothing is stored.
   * @throws error that names the file, the path and the reason; `AbortError` after `cancel`
   */
  async importFiles(files: BenchmarkFiles, onProgress?: Progress): Promise<StoredBenchmark[]> {
    if (this.importing) throw new Error('another import is in progress');
    const controller = (this.importing = new AbortController());
    const { signal } = controller;
    const tell: Progress = (done, total, label) => {
      signal.throwIfAborted();
      onProgress?.(done, total, label);
    };
    try {
      const found = await importBenchmarks(files, { onProgress: tell, signal });
      const known = new Set((await this.database.list()).map(({ id }) => id));
      const stored: StoredBenchmark[] = [];
      try {
        // After `cancel`, `tell` throws, so the transaction of `store` stores nothing.
        for (const imported of found)
          stored.push(
            await this.database.store(imported, (done, total) =>
              tell(done, total, `storing ${importedName(imported.benchmark, imported.domain)}`),
            ),
          );
      } catch (cause) {
        await Promise.all(stored.filter(({ id }) => !known.has(id)).map(({ id }) => this.database.remove(id)));
        throw cause;
      }
      return stored;
    } catch (cause) {
      throw signal.aborted ? new DOMException('the import was cancelled; nothing was stored', 'AbortError') : cause;
    } finally {
      this.importing = null;
    }
  }

  cancel(): void {
    this.importing?.abort();
  }
}
