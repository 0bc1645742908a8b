/**
 * @file The page's access to everything stored: runs, conversations, evaluations, experiments, branches, models, checkpoints and progress
 * in lessons. Runs and evaluations come from the browser's storage and from the recorded runs. The rest is in the browser's storage.
 *
 * Methods that a LiveQuery calls must read the browser's storage before they await anything else, because Dexie does not observe later
 * reads.
 */
import type { RunContent } from '../../records/bundle.ts';
import type { BranchRow } from '../../records/branch.ts';
import type { Conversation } from '../../records/conversation.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import type { ModelParts } from '../../exchange/model-folder.ts';
import type { ModelFiles, ModelRow } from '../../records/model.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { CheckpointRow, RunRow, StepMetrics } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { StoredBenchmark } from '../../benchmarks/import/database.ts';
import { RunDatabase } from '../../storage/database.ts';
import { storageError } from '../../base/storage-error.ts';
import type { Init } from '../../training/init-weights.ts';
import { BrowserSource } from './browser-source.ts';
import { Datasets } from './datasets.ts';
import { BundledExperiments, Experiments } from './experiments.ts';
import type { StoredConversation } from './conversation.ts';
import type { ImportedEvaluation } from '../../trainer/imported-evaluation.ts';
import type { ForeignWords } from '../../trainer/foreign-conversation.ts';
import type { StoreOptions } from './import-run.ts';
import { Labels } from './labels.ts';
import { LessonProgress } from './lesson-progress.ts';
import { BRANCHES, type Origin } from './origin.ts';
import { isPublished, publishedEvaluations } from './published.ts';
import { RECORDED, recordedSources, type RecordedSource } from './recorded-source.ts';
import type { RunSource } from './source.ts';
import type { StorageReport } from './verify-storage.ts';
import type { Weights } from './weights.ts';

export type Deletable =
  | { kind: 'run' | 'evaluation' | 'model' | 'dataset'; id: string }
  | { kind: 'checkpoint'; run: string; step: number }
  | { kind: 'branches'; ids: string[] };

/** A recorded run with its rows. */
export interface Example {
  run: RunRow;
  metrics: StepMetrics[];
  rollouts: RolloutSummary[];
  trajectories: Trajectory[];
}

export class Library {
  readonly #db: RunDatabase;
  readonly #browser: BrowserSource;
  readonly #recorded: readonly RecordedSource[];

  readonly experiments: Experiments;
  readonly datasets: Datasets;
  readonly lessons: LessonProgress;
  readonly labels = new Labels();

  constructor(db = new RunDatabase(), recorded: readonly RecordedSource[] = recordedSources(), bundled = new BundledExperiments()) {
    this.#db = db;
    this.experiments = new Experiments(db, bundled);
    this.datasets = new Datasets(db);
    this.lessons = new LessonProgress(db);
    this.#browser = new BrowserSource(db, this.labels);
    this.#recorded = recorded;
  }

  /** Calls `listener` if the storage was written by a newer version of the page. This page can then only read the storage. */
  onNewer(listener: () => void): void {
    this.#db.on('ready', () => void (this.#db.isNewer && listener()), true);
  }

  /** The source that holds the run of this id. */
  source(run: string): RunSource {
    return this.#recorded.find(({ id }) => id === run) ?? this.#browser;
  }

  /** Runs of this browser, the newest first, then the recorded runs. Fetches the bundles of all recorded runs. */
  runs(): Promise<RunRow[]> {
    return this.#ofAll((source) => source.runs());
  }

  /** Runs of this browser, the newest first. */
  ownRuns(limit?: number): Promise<RunRow[]> {
    return this.#browser.runs(limit);
  }

  run(id: string): Promise<RunRow | undefined> {
    return this.source(id).run(id);
  }

  /** The newest run that was trained in this browser and began before the time `before`. */
  lastRun(before = Infinity): Promise<RunRow | undefined> {
    return this.#db.runs
      .where('createdAt')
      .below(before)
      .filter(({ imported, superseded }) => imported === undefined && superseded === undefined)
      .last();
  }

  /** The recorded run that explains GRPO; null if it is missing or unreadable. */
  async example(): Promise<Example | null> {
    const id = RECORDED;
    const source = this.source(id);
    const run = await source.run(id);
    if (!run) return null;
    const [metrics, rollouts, trajectories] = await Promise.all([source.metrics(id), source.rollouts(id), source.trajectories(id)]);
    return { run, metrics, rollouts, trajectories };
  }

  /** All evaluations: the newest first, then those of the recorded runs. If `run` is given, only evaluations of that run's weights. */
  evaluations(run?: string): Promise<EvaluationRow[]> {
    return run === undefined ? this.#ofAll((source) => source.evaluations()) : this.source(run).evaluations(run);
  }

  async evaluation(id: string): Promise<EvaluationRow | undefined> {
    if (isPublished(id)) return (await publishedEvaluations()).find((row) => row.id === id);
    return (await this.#sourceWith(id)).evaluation(id);
  }

  /** The conversations of an evaluation. */
  async trials(evaluation: string): Promise<Trajectory[]> {
    return (await this.#sourceWith(evaluation)).trials(evaluation);
  }

  /** A conversation of an evaluation. */
  async trial(evaluation: string, id: string): Promise<Trajectory | undefined> {
    return (await this.#sourceWith(evaluation)).trial(evaluation, id);
  }

  /** Finds a rollout, a trial or a branch. @throws Error that says what is missing */
  async conversation(ref: Origin): Promise<StoredConversation> {
    return (await import('./conversation.ts')).findConversation(this, ref);
  }

  branch(id: string): Promise<BranchRow | undefined> {
    return this.#db.branches.get(id);
  }

  /** The branches of one conversation or task, the oldest first. */
  branches(origin: string): Promise<BranchRow[]> {
    return this.#db.branches.where('origin').equals(origin).sortBy('createdAt');
  }

  /** All branches that are in the training set, of any origin. */
  trainingSet(): Promise<BranchRow[]> {
    return this.#db.branches.filter(({ conversation }) => conversation !== undefined).toArray();
  }

  /** Adds branches, or replaces those with the same id. */
  async putBranches(rows: readonly BranchRow[]): Promise<void> {
    await this.#db.branches.bulkPut(rows);
  }

  /** Adds branches to the training set. If `conversation` is undefined, removes the branch from the set. */
  async setTraining(changes: readonly { id: string; conversation: Conversation | undefined }[]): Promise<void> {
    await this.#db.branches.bulkUpdate(changes.map(({ id, conversation }) => ({ key: id, changes: { conversation } })));
  }

  /** Imported models and kept checkpoints, the newest first. */
  async models(): Promise<ModelRow[]> {
    return (await this.#db.models.toArray()).sort((a, b) => b.addedAt - a.addedAt);
  }

  /** The checkpoints of all runs in this browser. */
  checkpoints(): Promise<CheckpointRow[]> {
    return this.#db.checkpoints.toArray();
  }

  /** Checks and stores a model. @throws Error that names the file and its fault, or with advice if the disk is full */
  async addModel(name: string, files: ModelParts, folder?: string, signal?: AbortSignal): Promise<ModelRow> {
    return this.#putModel(await (await import('./checked-model.ts')).checkedModel(name, files, folder, signal));
  }

  /** Stores the files of a folder or a zip. Copies weights that are not in memory to the private file system. @throws like `addModel` */
  async importModel(name: string, files: ModelParts, signal?: AbortSignal): Promise<ModelRow> {
    const { withCopies } = await import('./copy-weights.ts');
    return withCopies(name, files, (own, folder) => this.addModel(name, own, folder, signal));
  }

  /** Stores a checkpoint's weights as a model and returns the model's id. The same checkpoint always has the same id. */
  async keepCheckpoint(run: string, step: number, name: string): Promise<string> {
    const { checkedModel } = await import('./checked-model.ts');
    const row = await checkedModel(name, await this.checkpointFiles(run, step));
    return (await this.#putModel({ ...row, id: `${run}-step-${step}`, run })).id;
  }

  /** The files of a bundled or stored model. @throws Error if the model is missing */
  async modelFiles(model: string): Promise<ModelFiles> {
    return (await import('../../trainer/stored-models.ts')).modelFiles(this.#db, model);
  }

  /** A checkpoint's weights as a Hugging Face folder. @throws Error if the run, the checkpoint or the run's model is missing */
  async checkpointFiles(run: string, step: number): Promise<ModelFiles> {
    return (await import('../../trainer/stored-models.ts')).checkpointFiles(this.#db, run, step);
  }

  /** The tokenizer.json of a bundled or stored model; undefined if the model is missing. @throws Error if the file cannot be fetched */
  async tokenizer(model: string): Promise<Blob | undefined> {
    return (await import('./weights.ts')).tokenizerFile(model, (id) => this.#db.models.get(id));
  }

  /** The weights of bundled models, stored models and checkpoints. The checkpoints of the newest run come first. */
  async weights(): Promise<Weights[]> {
    return (await this.#weights()).all;
  }

  /** The weights whose tokenizer equals that of the model `base`. The weights of `base` itself come first. */
  async weightsFor(base: string): Promise<Weights[]> {
    const { all, models } = await this.#weights();
    return (await import('./weights.ts')).fittingWeights(all, base, models);
  }

  /**
   * Deletes a run or an evaluation with everything that belongs to it, or a single model, checkpoint or branch.
   * @throws Error if the item belongs to a recorded run
   */
  async delete(item: Deletable): Promise<void> {
    if (item.kind === 'run') await this.source(item.id).deleteRun(item.id);
    else if (item.kind === 'evaluation') await (await this.#sourceWith(item.id)).deleteEvaluation(item.id);
    else if (item.kind === 'model') await this.#deleteModel(item.id);
    else if (item.kind === 'checkpoint') await this.#db.checkpoints.delete([item.run, item.step]);
    else if (item.kind === 'branches') await this.#db.branches.bulkDelete(item.ids);
    else await this.datasets.delete(item.id);
  }

  /** Stores the model `base` with untrained weights and returns its id. */
  async addFreshModel(base: string, init: Init, seed: number): Promise<string> {
    return (await this.#putModel(await (await import('./dataset-rows.ts')).freshModel(this.#db, base, init, seed))).id;
  }

  /** Reads everything that is stored of a run. @param checkpoint the step whose weights to include; null for no weights */
  async collectRun(run: string, checkpoint: number | null = null): Promise<RunContent> {
    const { collectRun, withVocabulary } = await import('./collect-run.ts');
    const content = await withVocabulary(await collectRun(this.#db, this.source(run), run), (model) => this.tokenizer(model));
    return { ...content, model: checkpoint === null ? null : await this.checkpointFiles(run, checkpoint) };
  }

  /**
   * Stores an imported run and returns its id: its own id, or a new one if its own id is in use.
   * @throws Error with advice if the disk is full; after an error, nothing is stored
   */
  async storeRun(content: RunContent, options?: StoreOptions): Promise<string> {
    const recorded = this.#recorded.flatMap((source) => [source.id, ...source.evaluationIds]);
    return (await import('./import-run.ts')).storeRun(this.#db, content, [...recorded, BRANCHES], options);
  }

  /** Stores imported evaluations. @throws Error with advice if the disk is full; after an error, nothing is stored */
  async storeEvaluations(evaluations: readonly ImportedEvaluation[]): Promise<void> {
    await (await import('./store-evaluation.ts')).storeEvaluations(this.#db, evaluations);
  }

  /** Stores what the visitor says of an imported run. @throws as `storeForeign` */
  async sayForeign(run: string, words: ForeignWords): Promise<void> {
    await (await import('./say-foreign.ts')).storeForeign(this.#db, run, words);
  }

  /** Stores what the visitor says of an imported evaluation. @throws as `storeForeign` */
  async sayForeignEvaluation(id: string, words: ForeignWords): Promise<void> {
    await (await import('./say-foreign.ts')).storeForeignEvaluation(this.#db, id, words);
  }

  /** Imported benchmarks, the newest first. */
  async benchmarks(): Promise<StoredBenchmark[]> {
    const { BenchmarkDatabase } = await import('../../benchmarks/import/database.ts');
    return new BenchmarkDatabase().list();
  }

  /** Checks everything that is stored by reading it. Calls `onProgress` with the number of parts that were read. */
  async verify(onProgress: (checked: number) => void): Promise<StorageReport> {
    const { verifyStorage } = await import('./verify-storage.ts');
    return verifyStorage(this.#db, onProgress);
  }

  async #deleteModel(id: string): Promise<void> {
    const folder = (await this.#db.models.get(id))?.weights?.folder;
    await this.#db.models.delete(id);
    if (folder !== undefined) await (await import('../../exchange/model-storage.ts')).removeFolder(folder);
  }

  async #putModel(row: ModelRow): Promise<ModelRow> {
    await this.#db.models.put(row).catch((cause: unknown) => {
      throw storageError(cause, 'this model');
    });
    return row;
  }

  async #weights(): Promise<{ all: Weights[]; models: ModelRow[] }> {
    const [runs, checkpoints, models] = await Promise.all([
      this.#browser.runs(),
      this.#db.checkpoints.toCollection().primaryKeys(),
      this.#db.models.toArray(),
    ]);
    const { listWeights } = await import('./weights.ts');
    return { all: listWeights(runs, checkpoints, models), models };
  }

  async #sourceWith(evaluation: string): Promise<RunSource> {
    if (await this.#browser.evaluation(evaluation)) return this.#browser;
    return this.#recorded.find((source) => source.hasEvaluation(evaluation)) ?? this.#browser;
  }

  /** What `read` gives for this browser, then for each recorded run. */
  async #ofAll<T>(read: (source: RunSource) => Promise<T[]>): Promise<T[]> {
    const own = await read(this.#browser);
    return [...own, ...(await Promise.all(this.#recorded.map(read))).flat()];
  }
}
