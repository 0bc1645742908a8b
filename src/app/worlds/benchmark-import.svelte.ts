/** @file The state of the current or the last import of a benchmark. An import continues when the visitor opens another view. */
import * as comlink from 'comlink';
import type { StoredBenchmark } from '../../benchmarks/import/database.ts';
import { benchmarkFiles, type PickedFile } from '../kit/picked-files.ts';
import { READ_LIMIT_MS } from '../clients/in-worker.ts';
import { askWorlds, endWorlds } from '../clients/worlds-client.ts';

/** The time in which a worker that is not stuck answers. */
const ANSWER_MS = 2000;

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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => endWorlds(new Error(`the import made no progress for ${READ_LIMIT_MS / 1000} s and was ended`)),
        READ_LIMIT_MS,
      );
    };
    const onProgress = comlink.proxy((done: number, total: number, label: string) => {
      Object.assign(this, { done, total, label });
      watch();
    });
    try {
      const picked = benchmarkFiles(await files);
      if (!picked.length) throw new Error('none of these is a .json, .toml, .md or .zip file');
      watch();
      this.imported = await askWorlds((browser) => browser.importFiles(picked, onProgress));
    } catch (cause) {
      const { name, message } = cause as Error;
      if (name === 'AbortError') this.cancelled = true;
      else this.problem = message;
    } finally {
      clearTimeout(timer);
      this.running = false;
    }
  }

  /** Ends the import. If a file keeps the worker too busy to answer, the worker is ended. */
  async cancel(): Promise<void> {
    const late = setTimeout(() => endWorlds(new DOMException('the import was cancelled; nothing was stored', 'AbortError')), ANSWER_MS);
    await askWorlds((browser) => browser.cancelImport()).catch(() => {});
    clearTimeout(late);
  }
}

export const benchmarkImport = new BenchmarkImport();
