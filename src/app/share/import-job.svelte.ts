/** @file An import from the file to the stored run, as the page shows it. */
import { BUNDLE_LIMITS, readRunBundle, type RunBundle } from '../../exchange/run-bundle.ts';
import type { ModelRow, RunDatabase } from '../../storage/database.ts';
import { storeRun } from '../../storage/import-run.ts';
import { BRANCHES } from '../logic/play-origin.ts';
import { RECORDED } from '../logic/recorded.ts';
import { fetchBundle } from './fetch-bundle.ts';

export interface ReadRun {
  /** The file's name or address. */
  from: string;
  bytes: number;
  bundle: RunBundle;
  model: ModelRow | null;
}

export const MOST_BYTES = BUNDLE_LIMITS.fileBytes;

export class ImportJob {
  /** What is going on, for a person; '' when nothing is. */
  stage = $state('');
  /** 0…1, or null where the end is not known. */
  share = $state.raw<number | null>(null);
  problem = $state('');
  /** Read and whole, not yet stored. */
  read = $state.raw<ReadRun | null>(null);
  #abort = new AbortController();

  cancel(): void {
    this.#abort.abort(new Error('cancelled'));
    this.#abort = new AbortController();
    this.#reset();
  }

  fromFile(file: File): Promise<void> {
    return this.#work(async (signal) => this.#read(file.name, file, signal));
  }

  fromUrl(url: URL): Promise<void> {
    return this.#work(async (signal) => {
      this.stage = `Fetching from ${url.host}`;
      const file = await fetchBundle(url, MOST_BYTES, (done, total) => (this.share = total && done / total), signal);
      await this.#read(url.href, file, signal);
    });
  }

  /** The id of the stored run, or null. */
  async store(db: RunDatabase): Promise<string | null> {
    const { read } = this;
    if (!read) return null;
    let id: string | null = null;
    await this.#work(async () => {
      this.stage = 'Storing';
      id = await storeRun(db, read.bundle, { taken: [RECORDED, BRANCHES], model: read.model, onProgress: (done, total) => (this.share = done / total) });
    });
    if (id === null) this.read = read; // it may fit once there is room
    return id;
  }

  async #read(from: string, file: Blob, signal: AbortSignal): Promise<void> {
    this.stage = 'Reading and checking';
    this.share = 0;
    const bundle = await readRunBundle(file, { signal, onProgress: (done, total) => (this.share = done / total) });
    let model: ModelRow | null = null;
    if (bundle.model) {
      this.stage = 'Checking the weights';
      const { modelRow } = await import('../../training/stored-models.ts');
      model = modelRow(`${bundle.run.name}, step ${bundle.run.step}`, bundle.model);
    }
    signal.throwIfAborted();
    this.read = { from, bytes: file.size, bundle, model };
  }

  async #work(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.cancel();
    const { signal } = this.#abort;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return; // another import has begun
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.stage = '';
    this.share = null;
  }

  #reset(): void {
    this.stage = '';
    this.share = null;
    this.problem = '';
    this.read = null;
  }
}
