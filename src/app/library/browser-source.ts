/** @file The source of the runs that are stored in the browser. */
import { Dexie } from 'dexie';
import type { EvaluationRow } from '../../records/evaluation.ts';
import { measuredMetrics, type RunWords, type StepMetrics } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { beginningWith } from '../../base/key-range.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { whileUnused } from '../../storage/run-lock.ts';
import { Labels } from './labels.ts';
import { LAST_STEPS } from './run-summary.ts';
import { originsIn } from './origin.ts';
import { hasHeldOut, type RunSummary, spread, summaryOf } from './run-summary.ts';
import { ROLLOUT_PAGE, type RunSource } from './source.ts';

/** Typical size of a row as JSON, in bytes. A row in IndexedDB needs about the same size. */
const METRICS_BYTES = 3_000;
const ROLLOUT_BYTES = 350;
/** The number of trajectories that are measured to estimate the size of all trajectories. */
const SAMPLE = 4;

export class BrowserSource implements RunSource {
  readonly readOnly = false;
  readonly #db: RunDatabase;

  constructor(
    db: RunDatabase,
    private readonly labels = new Labels(),
  ) {
    this.#db = db;
  }

  runs(limit = Infinity) {
    return this.#db.runs.orderBy('createdAt').reverse().limit(limit).toArray();
  }

  run(id: string) {
    return this.#db.runs.get(id);
  }

  async metrics(run: string): Promise<StepMetrics[]> {
    const [row, rows] = await Promise.all([this.#db.runs.get(run), beginningWith(this.#db.metrics, run).toArray()]);
    return rows.map(({ values }) => (row ? measuredMetrics(values, row.config) : values));
  }

  /** Summarizes a run. Reads only a few rows, even of a long run. */
  async summary(run: string): Promise<RunSummary> {
    const steps = () => beginningWith(this.#db.metrics, run);
    const evaluated = () => steps().filter(({ values }) => hasHeldOut(values));
    const [last, first, newest, some] = await Promise.all([
      steps().reverse().limit(LAST_STEPS).toArray(),
      // A run is evaluated before its first step and then at intervals, so both searches for an evaluation end soon.
      evaluated().first(),
      evaluated().reverse().first(),
      steps()
        .primaryKeys()
        .then((keys) => this.#db.metrics.bulkGet(spread(keys))),
    ]);
    return summaryOf(
      last.map(({ values }) => values),
      first?.values,
      newest?.values,
      some.flatMap((row) => row?.values ?? []),
    );
  }

  /** Estimates the size of a run: measures its checkpoints, counts its rows, and estimates its trajectories from the newest ones. */
  async bytes(run: string): Promise<number> {
    const db = this.#db;
    const conversations = () => beginningWith(db.trajectories, run);
    const trials = async () => {
      const evaluations = await db.evaluations.where('run').equals(run).primaryKeys();
      const counts = await Promise.all(evaluations.map((id) => beginningWith(db.evaluationTrajectories, id).count()));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    const [metrics, rollouts, kept, evaluated, sample, checkpoints] = await Promise.all([
      beginningWith(db.metrics, run).count(),
      beginningWith(db.rollouts, run).count(),
      conversations().count(),
      trials(),
      conversations().reverse().limit(SAMPLE).toArray(),
      beginningWith(db.checkpoints, run).toArray(),
    ]);
    const weights = checkpoints.reduce(
      (sum, { weights, optimizer, reference }) => sum + weights.size + optimizer.size + (reference?.size ?? 0),
      0,
    );
    const each = sample.reduce((sum, trajectory) => sum + JSON.stringify(trajectory).length, 0) / Math.max(1, sample.length);
    return weights + metrics * METRICS_BYTES + rollouts * ROLLOUT_BYTES + Math.round((kept + evaluated) * each);
  }

  async newestCheckpoint(run: string): Promise<number> {
    return Math.max(0, ...(await beginningWith(this.#db.checkpoints, run).primaryKeys()).map(([, step]) => step));
  }

  checkpoints(run: string) {
    return beginningWith(this.#db.checkpoints, run).reverse().toArray();
  }

  rollouts(run: string) {
    return beginningWith(this.#db.rollouts, run, '[run+step]').toArray();
  }

  rolloutPage(run: string, after: string) {
    return this.#db.rollouts.where('[run+id]').between([run, after], [run, Dexie.maxKey], false).limit(ROLLOUT_PAGE).toArray();
  }

  rollout(run: string, id: string) {
    return this.#db.rollouts.get([run, id]);
  }

  group(run: string, group: string) {
    return this.#db.rollouts.where('[run+group]').equals([run, group]).toArray();
  }

  async trajectoryIds(run: string): Promise<string[]> {
    return (await beginningWith(this.#db.trajectories, run).primaryKeys()).map(([, id]) => id);
  }

  trajectories(run: string): Promise<Trajectory[]>;
  trajectories(run: string, ids: string[]): Promise<(Trajectory | undefined)[]>;
  trajectories(run: string, ids?: string[]): Promise<(Trajectory | undefined)[]> {
    if (!ids) return beginningWith(this.#db.trajectories, run).toArray();
    return this.#db.trajectories.bulkGet(ids.map((id): [string, string] => [run, id]));
  }

  trajectory(run: string, id: string) {
    return this.#db.trajectories.get([run, id]);
  }

  async evaluations(run?: string): Promise<EvaluationRow[]> {
    const { evaluations } = this.#db;
    if (run === undefined) return evaluations.orderBy('createdAt').reverse().toArray();
    return (await evaluations.where('run').equals(run).sortBy('createdAt')).reverse();
  }

  evaluation(id: string) {
    return this.#db.evaluations.get(id);
  }

  trials(evaluation: string) {
    return beginningWith(this.#db.evaluationTrajectories, evaluation).toArray();
  }

  trial(evaluation: string, id: string) {
    return this.#db.evaluationTrajectories.get([evaluation, id]);
  }

  async describeRun(id: string, { name, note, tags }: RunWords): Promise<void> {
    const found = await this.#db.runs.where('id').equals(id).modify({ name, note, tags });
    if (found === 0) throw new Error(`there is no run "${id}" in this browser`);
  }

  async deleteRun(id: string): Promise<void> {
    const db = this.#db;
    const tables = [
      db.runs,
      db.metrics,
      db.rollouts,
      db.trajectories,
      db.checkpoints,
      db.evaluations,
      db.evaluationTrajectories,
      db.branches,
    ];
    let evaluations: string[] = [];
    const remove = async () => {
      await beginningWith(db.metrics, id).delete();
      await beginningWith(db.rollouts, id).delete();
      await beginningWith(db.trajectories, id).delete();
      await beginningWith(db.checkpoints, id).delete();
      evaluations = await db.evaluations.where('run').equals(id).primaryKeys();
      for (const evaluation of evaluations) await this.#removeEvaluation(evaluation);
      await this.#deleteBranches(id);
      await db.runs.delete(id);
    };
    await whileUnused(id, () => db.transaction('rw', tables, remove));
    for (const evaluation of evaluations) await this.labels.delete(evaluation);
  }

  async deleteEvaluation(id: string): Promise<void> {
    const db = this.#db;
    await db.transaction('rw', [db.evaluations, db.evaluationTrajectories, db.branches], () => this.#removeEvaluation(id));
    await this.labels.delete(id);
  }

  async #removeEvaluation(id: string): Promise<void> {
    const db = this.#db;
    await beginningWith(db.evaluationTrajectories, id).delete();
    await this.#deleteBranches(id);
    await db.evaluations.delete(id);
  }

  atOnce<T>(read: () => Promise<T>): Promise<T> {
    const db = this.#db;
    const tables = [db.runs, db.metrics, db.rollouts, db.trajectories, db.branches, db.evaluations, db.evaluationTrajectories];
    return db.transaction('r', tables, read);
  }

  #deleteBranches(place: string) {
    return this.#db.branches.where('origin').startsWith(originsIn(place)).delete();
  }
}
