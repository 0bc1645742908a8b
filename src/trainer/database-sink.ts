/**
 * @file Stores a run in the browser's database. A result is stored before it is sent to the page, so nothing is lost if the
 * page crashes.
 */
import { beginningWith } from '../base/key-range.ts';
import { storageError } from '../base/storage-error.ts';
import type { Evaluation } from '../evaluation/evaluate.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { CheckpointOrigin, GrpoConfig, RunRow, StepMetrics } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import type { RunDatabase } from '../storage/database.ts';
import { trialWrite } from '../storage/trial-write.ts';
import { heldOutSettings } from '../training/evaluation-settings.ts';
import { keptGroup } from '../training/inspect.ts';
import type { StepResult } from '../training/step-result.ts';
import { type Checkpoint, checkpointBytes, checkpointRow, keepCheckpoint, loadCheckpoint } from './checkpoints.ts';
import { keptConversations } from './datasets.ts';
import { keepEvaluation, resultsOf } from './evaluations.ts';
import type { RunEvents } from './run-events.ts';
import type { RunPhase, RunSink, RunStart } from './run-sink.ts';
import type { SessionParts } from './session-parts.ts';
import { startingFiles } from './starting-weights.ts';
import { summarize } from './summary.ts';
import { supersede } from './superseded.ts';

/** Trajectories are kept for this many steps. Those of one group per step are kept permanently. */
const STEPS_KEPT = 20;
/** The number of checkpoints for which the storage needs space: two are kept while the next one is written. */
const CHECKPOINTS_TRIED = 3;

export class DatabaseSink implements RunSink {
  readonly #parts: Pick<SessionParts, 'bundledModel' | 'database'>;
  readonly #db: RunDatabase;
  readonly #row: RunRow;
  /** The files of the run's model, if they were read. */
  readonly #model: ModelParts | undefined;
  readonly #user: UserConfig;
  readonly #events: RunEvents;
  readonly #running: (note: string) => Promise<void>;
  /** The step of the checkpoint from which the run continues. */
  #from = 0;

  /** @param user the customer with its API key, which is never stored @param running called when the steps begin */
  constructor(
    parts: Pick<SessionParts, 'bundledModel' | 'database'>,
    { row, user, model }: { row: RunRow; user: UserConfig; model?: ModelParts | undefined },
    events: RunEvents,
    running: (note: string) => Promise<void>,
  ) {
    this.#parts = parts;
    this.#db = parts.database();
    this.#row = row;
    this.#model = model;
    this.#user = user;
    this.#events = events;
    this.#running = running;
  }

  async open(): Promise<RunStart> {
    const db = this.#db;
    const { id, config, request, step } = this.#row;
    const files = await startingFiles(this.#model ?? (await this.#parts.bundledModel(request.model)), config, request.model);
    const dataset = request.dataset === undefined ? undefined : await keptConversations(db, request.dataset);
    const loaded = await loadCheckpoint(db, id);
    await trialWrite(CHECKPOINTS_TRIED * checkpointBytes(files, config)).catch((error: unknown) => {
      throw storageError(error, `${CHECKPOINTS_TRIED} checkpoints of the run`);
    });
    const from = (this.#from = loaded.checkpoint?.step ?? 0);
    const done = await db.metrics.where('[run+step]').between([id, 1], [id, from], true, true).toArray();
    const user = this.#user;
    return {
      config,
      files,
      firstModel: files,
      loaded,
      metrics: done.map(({ values }) => values),
      spent: user.mode === 'scripted' ? 0 : await costSoFar(db, id),
      user,
      ...(request.val_user && { valUser: request.val_user }),
      ...(dataset && { dataset }),
      ...(user.mode === 'endpoint' && step > from && { question: replayQuestion(from, step) }),
      // With a language model as the customer, repeating a step costs money or much time, so a checkpoint is saved after every step.
      save: { every: user.mode === 'scripted' ? config.save_freq : 1, share: 0, last: true },
    };
  }

  async begin(note: string): Promise<void> {
    await supersede(this.#db, this.#row.id, this.#from);
    await this.#running(note);
  }

  progress(step: number, phase: RunPhase, done: number, total: number, left: number | null): void {
    this.#events.emit({ type: 'progress', step, totalSteps: this.#row.config.total_training_steps, phase, done, total, left });
  }

  get live() {
    return this.#events.live;
  }

  rollout(step: number, trajectory: Trajectory): void {
    this.#events.emit({ type: 'rollout', rollout: summarize(trajectory, step, null) });
  }

  async evaluation(step: number, { greedy, ...evaluation }: Evaluation): Promise<void> {
    const { id, name, config, request } = this.#row;
    const keep = async (own: string, played: GrpoConfig, { report, trajectories }: Evaluation) => {
      const results = await resultsOf(trajectories);
      await this.#write(() =>
        keepEvaluation(this.#db, {
          id: own,
          model: { kind: 'run', run: id, step },
          name: `${name}@${step}`,
          settings: heldOutSettings(played, request.val_user ?? this.#user),
          report,
          results,
          trajectories,
        }),
      );
    };
    await keep(`${id}@${step}`, config, evaluation);
    if (greedy) await keep(greedyId(id, step), { ...config, 'val_kwargs.do_sample': false }, greedy);
  }

  async step(result: StepResult): Promise<void> {
    const { metrics } = result;
    if (metrics.step === 0) await this.#write(() => keepMetrics(this.#db, this.#row.id, metrics));
    else
      for (const rollout of await this.#write(() => keepStep(this.#db, this.#row.id, result)))
        this.#events.emit({ type: 'rollout', rollout });
    this.#events.emit({ type: 'metrics', metrics });
  }

  async checkpoint(checkpoint: Checkpoint, origin: CheckpointOrigin): Promise<void> {
    const row = await checkpointRow(this.#row.id, checkpoint, origin);
    await this.#write(() => keepCheckpoint(this.#db, row));
    this.#events.emit({ type: 'checkpoint', step: row.step });
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    return writeResults(this.#db, this.#row.id, write);
  }
}

/** The id of the greedy evaluation of a run's weights after `step` (`val_greedy`). */
export const greedyId = (run: string, step: number) => `${run}@${step}-greedy`;

/** Writes results of a run in one transaction. Opens the database again if the browser has closed it. */
export async function writeResults<T>(db: RunDatabase, run: string, write: () => Promise<T>): Promise<T> {
  if (!db.isOpen()) await db.open();
  return db.writeResults(run, write);
}

const replayQuestion = (saved: number, last: number) =>
  `${last - saved === 1 ? `Step ${last} is` : `Steps ${saved + 1} to ${last} are`} after the last whole checkpoint. Resume plays ${last - saved === 1 ? 'this step' : 'these steps'} again, which the customer's server may charge for. Stop keeps what there is.`;

/** What the customers of a run have cost so far. This includes steps that were later played again. */
async function costSoFar(db: RunDatabase, id: string): Promise<number> {
  const earlier = await db.runs.filter(({ superseded }) => superseded?.run === id).primaryKeys();
  const rows = await Promise.all([id, ...earlier].map((run) => beginningWith(db.metrics, run).toArray()));
  return rows.flat().reduce((sum, { values }) => sum + (values['user/cost'] ?? 0), 0);
}

const keepMetrics = (db: RunDatabase, run: string, values: StepMetrics) => db.metrics.put({ run, step: values.step, values });

/** Writes the rows of a step, and deletes most of the text of an old step. Must be called in a transaction. */
async function keepStep(db: RunDatabase, run: string, { metrics, trajectories, advantages }: StepResult): Promise<RolloutSummary[]> {
  const { step } = metrics;
  const rollouts = trajectories.map((t) => summarize(t, step, advantages.get(t.id) ?? null));
  await keepMetrics(db, run, metrics);
  await db.rollouts.bulkPut(rollouts.map((rollout) => ({ run, ...rollout })));
  await db.trajectories.bulkPut(trajectories.map((trajectory) => ({ run, ...trajectory })));
  await db.runs.update(run, { step });
  const outdated = step - STEPS_KEPT;
  if (outdated > 0) {
    const old = await db.rollouts.where('[run+step]').equals([run, outdated]).toArray();
    await db.trajectories.bulkDelete(old.filter((r) => r.group !== keptGroup(outdated)).map((r): [string, string] => [run, r.id]));
  }
  return rollouts;
}
