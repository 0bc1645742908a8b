/** @file Downloads models of the Hugging Face Hub. A download that stopped continues with its next bytes. */
import * as comlink from 'comlink';
import { HUB } from '../../base/hub.ts';
import { downloadFolder, findHubModel, type HubModel } from '../../exchange/hub-model.ts';
import { inModelsWorker } from '../clients/models-worker.ts';

/** Where the visitor began: in the list of pretrained models, or in the form for any model. */
type Place = 'list' | 'form';

interface Working {
  from: Place;
  /** The model, under the name that was asked for. */
  name: string;
  text: string;
  here: number;
  total: number;
  abort: AbortController;
}

export class HubDownload {
  /** The address of another Hub; '' means Hugging Face. */
  hub = $state('');
  found = $state.raw<HubModel | null>(null);
  working = $state.raw<Working | null>(null);
  /** The model whose work failed, and why. */
  problem = $state.raw<{ from: Place; name: string; text: string } | null>(null);
  /** Rises when files of a model may have changed. */
  version = $state(0);
  readonly #keep: (name: string, files: Record<string, File>, folder: string) => Promise<void>;

  /** @param keep stores the files of a folder as a model */
  constructor(keep: (name: string, files: Record<string, File>, folder: string) => Promise<void>) {
    this.#keep = keep;
  }

  /** Does one thing at a time. */
  async work(name: string, text: string, job: (signal: AbortSignal) => Promise<void>, from: Place = 'form'): Promise<void> {
    if (this.working) return;
    this.problem = null;
    const abort = new AbortController();
    this.working = { from, name, text, here: 0, total: 0, abort };
    try {
      await job(abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) this.problem = { from, name, text: error instanceof Error ? error.message : String(error) };
    }
    this.working = null;
    this.version += 1;
  }

  lookUp(name: string): Promise<void> {
    return this.work(name, 'Asking the Hub', async (signal) => {
      this.found = null;
      this.found = await this.#find(name, signal);
    });
  }

  download(model: HubModel): Promise<void> {
    return this.work(model.name, `Downloading ${model.name}`, (signal) => this.#download(model, signal));
  }

  /** Finds a model and downloads it at once. */
  get(name: string): Promise<void> {
    return this.work(name, 'Downloading', async (signal) => this.#download(await this.#find(name, signal), signal), 'list');
  }

  async #download(model: HubModel, signal: AbortSignal): Promise<void> {
    const onProgress = comlink.proxy((here: number, total: number) => {
      if (this.working) this.working = { ...this.working, here, total };
    });
    try {
      const files = await inModelsWorker('the download', (worker) => worker.downloadHubModel(model, onProgress), { signal });
      await this.#keep(model.name, files, downloadFolder(model));
      this.found = null;
    } catch (error) {
      // The next try continues with the files that are already here.
      if (this.found) this.found = await findHubModel(model.name, model.hub).catch(() => this.found);
      throw error;
    }
  }

  #find = (name: string, signal: AbortSignal): Promise<HubModel> => findHubModel(name, this.hub.trim() || HUB, signal);
}
