/** @file The state of an import, from the file to the stored run. */
import { BUNDLE_LIMITS, readRunBundle, type RunBundle } from '../../exchange/run-bundle.ts';
import type { ModelRow } from '../../records/model.ts';
import type { Library } from '../data/library/library.ts';
import { fetchBundle } from './fetch-bundle.ts';

export interface ReadRun {
  /** The file's name or address. */
  from: string;
  bytes: number;
  bundle: RunBundle;
  model: ModelRow | null;
}

export const MOST_BYTES = BUNDLE_LIMITS.fileBytes;

export class RunImport {
  /** The current work as text; '' if nothing runs. */
  stage = $state('');
  /** Progress from 0 to 1; null if the total is unknown. */
  share = $state.raw<number | null>(null);
  problem = $state('');
  /** The checked run, before it is stored. */
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

  /** Returns the id of the stored run; null if it was not stored. */
  async store(library: Pick<Library, 'storeRun'>): Promise<string | null> {
    const { read } = this;
    if (!read) return null;
    let id: string | null = null;
    await this.#work(async () => {
      this.stage = 'Storing';
      id = await library.storeRun(read.bundle, {
        model: read.model,
        onProgress: (done, total) => (this.share = done / total),
      });
    });
    if (id === null) this.read = read; // The visitor can try again after freeing space.
    return id;
  }

  async #read(from: string, file: Blob, signal: AbortSignal): Promise<void> {
    this.stage = 'Reading and checking';
    this.share = 0;
    const bundle = await readRunBundle(file, { signal, onProgress: (done, total) => (this.share = done / total) });
    let model: ModelRow | null = null;
    if (bundle.model) {
      this.stage = 'Checking the weights';
      const { checkedModel } = await import('../data/checked-model.ts');
      model = await checkedModel(`${bundle.run.name}, step ${bundle.run.step}`, bundle.model);
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
      if (signal.aborted) return; // The import was cancelled, or another import began.
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
