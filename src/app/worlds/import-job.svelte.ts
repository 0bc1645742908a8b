/** @file The import under way, or the last one. Leaving the page does not end it. */
import * as comlink from 'comlink';
import type { StoredBenchmark } from '../../storage/benchmarks.ts';
import { benchmarkFiles, type PickedFile } from '../logic/picked-files.ts';
import { askWorlds } from './connect.ts';

class ImportJob {
  running = $state(false);
  done = $state(0);
  /** 0 until the files have been listed. */
  total = $state(0);
  label = $state('');
  problem = $state('');
  cancelled = $state(false);
  imported = $state.raw<StoredBenchmark[]>([]);

  /** @param files a promise, as reading a dropped folder takes a while */
  async start(files: PickedFile[] | Promise<PickedFile[]>): Promise<void> {
    if (this.running) return;
    Object.assign(this, { running: true, done: 0, total: 0, label: '', problem: '', cancelled: false, imported: [] });
    const onProgress = comlink.proxy((done: number, total: number, label: string) => void Object.assign(this, { done, total, label }));
    try {
      const picked = benchmarkFiles(await files);
      if (!picked.length) throw new Error('there is no .json, .toml, .md or .zip file among these');
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

export const importJob = new ImportJob();
