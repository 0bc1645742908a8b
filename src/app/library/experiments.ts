/** @file The experiments in this browser, and the read-only experiments that come with the page. */
import type { Experiment, ExperimentContent, ExperimentRow } from '../../records/experiment.ts';
import type { RunRow } from '../../records/run.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { beginningWith } from '../../base/key-range.ts';
import { storageError } from '../../base/storage-error.ts';
import { BUNDLED_EXPERIMENTS } from '../../experiments/bundled.ts';
import type { RunUnderWay } from '../../experiments/plan.ts';

/** The interface of both sources of experiments: the browser and the page. */
export interface ExperimentSource {
  /** The newest experiment first. */
  list(): Promise<ExperimentRow[]>;
  get(id: string): Promise<ExperimentRow | undefined>;
  /** @throws Error if the source is read-only */
  delete(id: string): Promise<void>;
}

/** The files `experiments/<id>.mua-experiment.json` of the page. Each is fetched when it is first needed. */
export class BundledExperiments implements ExperimentSource {
  readonly #ids: readonly string[];
  readonly #fetch: (id: string) => Promise<ExperimentContent>;
  readonly #rows = new Map<string, Promise<ExperimentRow | undefined>>();

  constructor(ids: readonly string[] = BUNDLED_EXPERIMENTS, fetchOne = fetchResults) {
    this.#ids = ids;
    this.#fetch = fetchOne;
  }

  async list(): Promise<ExperimentRow[]> {
    return (await Promise.all(this.#ids.map((id) => this.get(id)))).filter((row) => row !== undefined);
  }

  /** Undefined if the file is missing or unreadable. */
  get(id: string): Promise<ExperimentRow | undefined> {
    const known = this.#rows.get(id);
    if (known || !this.#ids.includes(id)) return known ?? Promise.resolve(undefined);
    const row = this.#fetch(id)
      .then(({ experiment, runs }): ExperimentRow => ({ ...experiment, id, createdAt: 0, results: runs, bundled: true }))
      .catch((error: unknown) => {
        console.warn(`bundled experiment ${id}:`, error);
        return undefined;
      });
    this.#rows.set(id, row);
    return row;
  }

  async delete(): Promise<never> {
    throw new Error('the experiment is part of this page and cannot be deleted');
  }
}

class BrowserExperiments implements ExperimentSource {
  readonly #db: RunDatabase;

  constructor(db: RunDatabase) {
    this.#db = db;
  }

  list() {
    return this.#db.experiments.orderBy('createdAt').reverse().toArray();
  }

  get(id: string) {
    return this.#db.experiments.get(id);
  }

  /** Deletes the experiment but not its runs. They belong to no experiment afterwards, so a new one of the same name does not get them. */
  async delete(id: string): Promise<void> {
    const { experiments, runs } = this.#db;
    await this.#db.transaction('rw', experiments, runs, async () => {
      await experiments.delete(id);
      await runs
        .where('experiment')
        .equals(id)
        .modify((row) => {
          delete row.experiment;
          delete row.variant;
        });
    });
  }
}

export type BegunRun = RunUnderWay & { run: string };

export class Experiments {
  readonly #db: RunDatabase;
  readonly #browser: BrowserExperiments;
  readonly #bundled: BundledExperiments;

  constructor(db: RunDatabase, bundled: BundledExperiments) {
    this.#db = db;
    this.#browser = new BrowserExperiments(db);
    this.#bundled = bundled;
  }

  /** The experiments that come with the page, then those in this browser, the newest first. */
  async list(): Promise<ExperimentRow[]> {
    const own = await this.#browser.list();
    return [...(await this.#bundled.list()), ...own];
  }

  async get(id: string): Promise<ExperimentRow | undefined> {
    return (await this.#browser.get(id)) ?? this.#bundled.get(id);
  }

  /** The stored runs of an experiment. */
  runs(id: string): Promise<RunRow[]> {
    return this.#db.runs.where('experiment').equals(id).toArray();
  }

  /** The runs of an experiment that have started but are not finished. */
  async begun(id: string): Promise<BegunRun[]> {
    const rows = (await this.runs(id)).filter(({ status }) => status !== 'done');
    return Promise.all(
      rows.map(async ({ id: run, variant = '', config, step }) => {
        const metrics = await beginningWith(this.#db.metrics, run).toArray();
        const seconds = metrics.reduce((sum, { values }) => sum + (values['perf/time_per_step'] ?? 0), 0);
        return { run, variant, seed: config.seed, step, steps: config.total_training_steps, seconds };
      }),
    );
  }

  /** Stores a new experiment and returns its id, to which a number is added if the id is in use. @throws Error if the disk is full */
  create(experiment: Experiment): Promise<string> {
    return this.#add({ ...experiment, createdAt: Date.now(), results: [] });
  }

  /** Stores an experiment from a file and returns its id, as `create` does. */
  import({ experiment, runs }: ExperimentContent): Promise<string> {
    return this.#add({ ...experiment, createdAt: Date.now(), results: runs, imported: Date.now() });
  }

  /** @throws Error if the experiment is part of the page */
  async delete(id: string): Promise<void> {
    await ((await this.#browser.get(id)) ? this.#browser : this.#bundled).delete(id);
  }

  async #add(row: ExperimentRow): Promise<string> {
    try {
      return await this.#db.transaction('rw', this.#db.experiments, async () => {
        const used = new Set<string>([...(await this.#db.experiments.toCollection().primaryKeys()), ...BUNDLED_EXPERIMENTS]);
        let id = row.id;
        for (let n = 2; used.has(id); n++) id = `${row.id}-${n}`;
        await this.#db.experiments.add({ ...row, id });
        return id;
      });
    } catch (cause) {
      throw storageError(cause, 'this experiment');
    }
  }
}

async function fetchResults(id: string): Promise<ExperimentContent> {
  const file = `experiments/${id}.mua-experiment.json`;
  const [response, { readExperiment }] = await Promise.all([fetch(file), import('../../experiments/file.ts')]);
  if (!response.ok) throw new Error(`could not fetch ${file}: HTTP ${response.status}`);
  return readExperiment(await response.text(), file);
}
