/** @file The language models that can play the customer or the agent in the tab: the visitor's choice among them, and the download of a model. */
import { keepFolder, readPicked } from '../../local/folder.ts';
import { folderPrecisions } from '../../local/precision.ts';
import { downloadModel, HUB_MODELS, type HubListing, hubListing } from '../../local/hub.ts';
import { bundledCustomers } from '../../local/bundled.ts';
import { type StoredModel, storedModels } from '../../local/library.ts';
import type { LocalConfig, LocalModel, OnnxDtype } from '../../records/user.ts';
import type { PickedFile } from '../kit/picked-files.ts';

/** A line of the list of models. */
export interface Choice {
  group: 'Comes with the page' | 'In this browser' | 'Hugging Face Hub';
  model: Pick<LocalModel, 'source' | 'model'> & { hub?: string };
}

/** The choice of a model, which is stored. */
export interface LocalChoice {
  local: LocalConfig;
  /** Whether the files of the model are in this browser; undefined until the browser has looked for them. */
  readonly localIsHere: boolean | undefined;
  setLocal(change: Partial<LocalConfig>): void;
  lookForLocal(): Promise<void>;
}

export class LocalModels {
  readonly #settings: LocalChoice;
  stored = $state.raw<StoredModel[]>([]);
  /** The files that the Hub has of the chosen model; null until the visitor asks for them. */
  listing = $state.raw<HubListing | null>(null);
  /** The work in progress, with bytes: a question to the Hub or a copy of files. Null if there is no work. */
  busy = $state.raw<{ text: string; loaded: number; total: number } | null>(null);
  problem = $state('');
  #abort: AbortController | null = null;

  constructor(settings: LocalChoice) {
    this.#settings = settings;
    void this.refresh();
  }

  async refresh(): Promise<void> {
    this.stored = await storedModels().catch(() => []);
    await this.#settings.lookForLocal();
  }

  get choices(): Choice[] {
    const stored = new Map(this.stored.map((model) => [`${model.source}:${model.model}:${model.hub ?? ''}`, model]));
    const { local } = this.#settings;
    const hub = new Set<string>(HUB_MODELS);
    if (local.source === 'hub') hub.add(local.model);
    return [
      ...bundledCustomers().map(({ model }): Choice => ({ group: 'Comes with the page', model: { source: 'bundled', model } })),
      ...[...stored.values()].map(({ source, model, hub }): Choice => ({
        group: 'In this browser',
        model: { source, model, ...(hub !== undefined && { hub }) },
      })),
      ...[...hub]
        .filter((model) => ![...stored.values()].some((kept) => kept.source === 'hub' && kept.model === model && kept.hub === local.hub))
        .map((model): Choice => ({
          group: 'Hugging Face Hub',
          model: { source: 'hub', model, ...(local.hub !== undefined && { hub: local.hub }) },
        })),
    ];
  }

  /** The known precisions of the chosen model, with the size of its files in bytes if it is known. */
  get precisions(): { precision: OnnxDtype; bytes?: number }[] {
    const { source, model, hub, precision } = this.#settings.local;
    if (this.listing) return this.listing.precisions;
    if (source === 'bundled')
      return (bundledCustomers().find((bundled) => bundled.model === model)?.precisions ?? []).map((name) => ({ precision: name }));
    const kept = this.stored.filter((stored) => stored.source === source && stored.model === model && stored.hub === hub);
    return kept.length > 0 ? kept.map(({ precision: name, bytes }) => ({ precision: name, bytes })) : [{ precision }];
  }

  choose(model: Pick<LocalModel, 'source' | 'model'> & { hub?: string }): void {
    this.listing = null;
    this.problem = '';
    const { hub: _, ...rest } = this.#settings.local;
    this.#settings.local = { ...rest, ...model };
    this.#settings.setLocal({ precision: this.precisions[0]?.precision ?? rest.precision });
  }

  /** NaN means the model's own temperature. */
  setTemperature(value: number): void {
    const { temperature: _, ...rest } = this.#settings.local;
    this.#settings.local = rest;
    this.#settings.setLocal(Number.isNaN(value) ? {} : { temperature: Math.min(2, Math.max(0, value)) });
  }

  /** Loads models from a mirror of the Hub at `address`; '' means the Hub itself. */
  chooseHub(address: string): void {
    const { hub: _, ...rest } = this.#settings.local;
    this.#settings.local = rest;
    this.#settings.setLocal({ source: 'hub', ...(address && { hub: address }) });
    this.listing = null;
  }

  /** Asks the Hub for the sizes of the chosen model. */
  ask(): Promise<void> {
    return this.#work('Asking the Hub', async (signal) => {
      const listing = await hubListing(this.#settings.local, signal);
      this.listing = listing;
      if (!listing.precisions.some(({ precision }) => precision === this.#settings.local.precision))
        this.#settings.setLocal({
          precision: (listing.precisions.find(({ precision }) => precision === 'q4') ?? listing.precisions[0]!).precision,
        });
    });
  }

  download(): Promise<void> {
    return this.#work('Downloading', (signal) => downloadModel(this.#settings.local, { signal, onProgress: this.#progress }));
  }

  /** Stores a copy of the model in a folder on this machine, and chooses its smallest precision. */
  keep(picked: readonly PickedFile[]): Promise<void> {
    return this.#work('Copying', async () => {
      const { name, files } = readPicked(picked);
      const [precision] = folderPrecisions(name, files);
      await keepFolder(name, precision!, files, this.#progress);
      this.#settings.setLocal({ source: 'folder', model: name, precision: precision! });
    });
  }

  cancel(): void {
    this.#abort?.abort();
  }

  readonly #progress = (loaded: number, total: number) => {
    if (this.busy) this.busy = { ...this.busy, loaded, total };
  };

  async #work(text: string, job: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    if (this.busy) return;
    this.problem = '';
    this.busy = { text, loaded: 0, total: 0 };
    const abort = (this.#abort = new AbortController());
    try {
      await job(abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) this.problem = error instanceof Error ? error.message : String(error);
    }
    this.busy = null;
    await this.refresh();
  }
}
