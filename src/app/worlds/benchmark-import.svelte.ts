/** @file The state of the current or the last import of a benchmark. An import continues when the visitor opens another view. */
import * as comlink from 'comlink';
import type { StoredBenchmark } from '../../benchmarks/import/database.ts';
import { benchmarkFiles, type PickedFile } from '../kit/picked-files.ts';
import { askWorlds } from '../clients/worlds-client.ts';

class BenchmarkImport {
  running = $state(false);
  done = $state(0);
  /** The number of files; 0 until they are listed. */
  total = $state(0);
  label = $state('');
  problem = $state('');
  cancelled = $state(false);
  imported = $state.raw<StoredBenchmark[]>([]);

  /** Imports files. @param files may be a promise, because reading a dropped folder takes time */
  async start(files: PickedFile[] | Promise<PickedFile[]>): Promise<void> {
    if (this.running) return;
    Object.assign(this, { running: true, done: 0, total: 0, label: '', problem: '', cancelled: false, imported: [] });
    const onProgress = comlink.proxy((done: number, total: number, label: string) => void Object.assign(this, { done, total, label }));
    try {
      const picked = benchmarkFiles(await files);
      if (!picked.length) throw new Error('none of these is a .json, .toml, .md or .zip file');
      this.imported = await askWorlds((browser) => browser.importFiles(picked, onProgress));
    } catch (cause) {
      const { name, message } = cause as Error;
      if (name === 'AbortError') this.cancelled = true;
      else this.problem = message;
    } finally {
      this.running = false;
    }
  }

  cancel(): void {
    void askWorlds((browser) => browser.cancelImport());
  }
}

export const benchmarkImport = new BenchmarkImport();
