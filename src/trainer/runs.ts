/**
 * @file Runs of the page, at most one at a time. The results of a run are stored first and then sent to the page, so a page
 * that crashes loses nothing.
 */
import type { RunEvent } from './messages.ts';
import type { SessionParts } from './session-parts.ts';
import type { Evaluation } from '../evaluation/evaluate.ts';
import type { ModelFiles } from '../records/model.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { RunRequest, RunRow, RunStatus } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import type { RunDatabase } from '../storage/database.ts';
import { useRun } from '../storage/run-lock.ts';
import { trialWrite } from '../storage/trial-write.ts';
import type { MeteredUsers } from '../users/account.ts';
import { checkpointBytes, keepCheckpoint, loadCheckpoint, readCheckpoint, restore, resumeNote } from './checkpoints.ts';
import { grpoConfig } from '../training/config.ts';
import { keptConversations } from './datasets.ts';
import { concurrency, DeviceLostError, type EngineHost, sizeOf } from './engine-host.ts';
import type { StepResult } from '../training/step-result.ts';
import { keptGroup } from '../training/inspect.ts';
import { keepEvaluation, withoutKey } from './evaluations.ts';
import { supersede } from './superseded.ts';
import { LiveGroup } from './live.ts';
import { heldOutSettings } from '../training/evaluation-settings.ts';
import { alarmText } from '../training/alarms.ts';
import { DEFAULT_PRESET, PRESETS } from '../training/presets.ts';
import { evaluationMetrics, trainRun } from '../training/run.ts';
import { runName } from './run-name.ts';
import { originOf } from './origin.ts';
import { startingFiles } from './starting-weights.ts';
import { summarize } from './summary.ts';
import { beginningWith } from '../base/key-range.ts';
import { isStorageFull, storageError } from '../base/storage-error.ts';
import type { Environments } from '../environments/types.ts';
import { trainedFiles } from '../exchange/adapter-folder.ts';
import { takeGpu } from './gpu-lock.ts';

/** Trajectories are stored for this many steps. Those of one group per step are stored permanently. */
const STEPS_KEPT = 20;
/** Two checkpoints are kept while the next one is written. */
const CHECKPOINTS_TRIED = 3;
/** Time between two batches of events. Each batch costs a frame. On a software GPU, the cores that train also draw the frame. */
const EVENT_INTERVAL_MS = 250;
/** When the device is lost, waiting work fails first. The loss itself is reported within this time. */
const LOSS_SETTLES_MS = 100;

/** Where a run belongs, and whether the caller holds the lock of the GPU. */
export interface LaunchOptions extends Pick<RunRow, 'experiment' | 'variant'> {
  gpuTaken?: boolean;
}

interface ActiveRun {
  id: string;
  abort: AbortController;
  stopping: boolean;
  /** The alarm that ended the run, in words. */
  alarm?: string;
  paused: Promise<void> | null;
  unpause: () => void;
  /** Counts what a customer behind an endpoint costs. */
  meter?: MeteredUsers;
  /** The model with the weights of now. */
  model?: () => Promise<ModelFiles>;
  finished: Promise<void>;
}

/** What the customers of a run have cost, those of steps that were played again too. */
async function costSoFar(db: RunDatabase, id: string): Promise<number> {
  const earlier = await db.runs.filter(({ superseded }) => superseded?.run === id).primaryKeys();
  const rows = await Promise.all([id, ...earlier].map((run) => beginningWith(db.metrics, run).toArray()));
  return rows.flat().reduce((sum, { values }) => sum + (values['user/cost'] ?? 0), 0);
}

const replayQuestion = (saved: number, last: number) =>
  `${last - saved === 1 ? `Step ${last} is` : `Steps ${saved + 1} to ${last} are`} after the last whole checkpoint. Resume plays ${last - saved === 1 ? 'this step' : 'these steps'} again, which the customer's server may charge for. Stop keeps what there is.`;

export class Runs {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  #active: ActiveRun | null = null;
  #listener: ((run: string, events: RunEvent[]) => void) | null = null;
  #pending: { run: string; events: RunEvent[] } = { run: '', events: [] };
  #flushing = false;
  #live = new LiveGroup();
  /** The run that a viewer looks at. */
  #watched: string | null = null;
  #watching: ReturnType<typeof setInterval> | undefined;

  constructor(parts: SessionParts, host: EngineHost) {
    this.#parts = parts;
    this.#host = host;
    host.onLost = (error) => this.#active?.abort.abort(error);
  }

  listen(listener: (run: string, events: RunEvent[]) => void): void {
    this.#listener = listener;
  }

  /** Whether a viewer looks at `run`. An old page's “off” does not end the view of another run. */
  watch(run: string, on: boolean): void {
    if (!on && this.#watched !== run) return;
    this.#watched = on ? run : null;
    clearInterval(this.#watching);
    if (on) this.#watching = setInterval(() => this.#showLive(), EVENT_INTERVAL_MS);
    this.#live.show();
  }

  get active(): string | null {
    return this.#active?.id ?? null;
  }

  /** Resolves when no run is active. */
  get finished(): Promise<void> {
    return this.#active?.finished ?? Promise.resolve();
  }

  async start(request: RunRequest, { gpuTaken, ...place }: LaunchOptions = {}): Promise<string> {
    const config = grpoConfig(request.preset, request.overrides);
    if (request.dataset !== undefined && config.algorithm !== 'sft')
      throw new Error(`algorithm is ${config.algorithm}: expected sft, as the run has a dataset`);
    const user = withoutKey(request.user);
    const createdAt = Date.now();
    const row: RunRow = {
      id: crypto.randomUUID(),
      name: runName(config.seed, createdAt),
      createdAt,
      status: 'starting',
      step: 0,
      request: { ...request, user },
      config,
      ...place,
    };
    await this.#launch(row.id, async () => ({ row, user: request.user }), gpuTaken);
    return row.id;
  }

  async resume(run: string, user?: UserConfig, { gpuTaken }: LaunchOptions = {}): Promise<void> {
    const read = async () => {
      const row = await this.#parts.database().runs.get(run);
      if (!row) throw new Error(`there is no run "${run}" in this browser`);
      if (row.imported) throw new Error(`run "${row.name}" was imported: it can be read, not gone on with`);
      if (row.superseded) throw new Error(`run "${row.name}" was superseded: go on with the run that it came from`);
      // Runs of earlier versions lack settings that were added later.
      return { row: { ...row, config: { ...PRESETS[DEFAULT_PRESET]!.config, ...row.config } }, user: user ?? row.request.user };
    };
    await this.#launch(run, read, gpuTaken);
  }

  async pause(): Promise<void> {
    if (this.#active) await this.#pauseActive(this.#active);
  }

  async #pauseActive(active: ActiveRun, message?: string): Promise<void> {
    if (active.paused || active.stopping) return;
    active.paused = new Promise((resolve) => (active.unpause = resolve));
    await this.#setStatus(active.id, 'paused', message);
  }

  /** The model of the active run with the weights of now. @throws if no run trains */
  async model(): Promise<ModelFiles> {
    if (!this.#active?.model) throw new Error('no run trains now: its model is among the checkpoints');
    return this.#active.model();
  }

  /** @throws UserError unless `budget` is above what the customer has cost */
  async unpause(budget?: number): Promise<void> {
    const active = this.#active;
    if (!active?.paused) return;
    if (budget !== undefined && active.meter) {
      active.meter.raiseBudget(budget);
      await this.#keepBudget(active.id, budget);
    }
    active.paused = null;
    await this.#setStatus(active.id, 'running');
    active.unpause();
  }

  async stop(): Promise<void> {
    const active = this.#active;
    if (!active) return;
    active.stopping = true;
    await this.unpause();
    await active.finished;
  }

  /** `read` is called when no tab can delete the run any more. */
  async #launch(id: string, read: () => Promise<{ row: RunRow; user: UserConfig }>, gpuTaken = false): Promise<void> {
    if (this.#active) throw new Error('a run is already active: stop it first');
    const unuse = await useRun(id);
    const freed = async (error: unknown) => {
      await unuse();
      throw error;
    };
    const { row, user } = await read().catch(freed);
    const release = gpuTaken ? async () => {} : await takeGpu('train').catch(freed);
    const active: ActiveRun = {
      id,
      abort: new AbortController(),
      stopping: false,
      paused: null,
      unpause: () => {},
      finished: Promise.resolve(),
    };
    this.#active = active;
    this.#live = new LiveGroup();
    active.finished = this.#run(active, row, user).finally(async () => {
      this.#active = null;
      await unuse();
      await release();
    });
  }

  /** Trains to the end and stores the final status. Never rejects. */
  async #run(active: ActiveRun, row: RunRow, user: UserConfig): Promise<void> {
    const db = this.#parts.database();
    try {
      await db.runs.put({ ...row, status: 'starting', message: undefined }).catch((error: unknown) => {
        throw storageError(error, 'the run');
      });
      this.#emit({ type: 'status', status: 'starting' });
      await this.#train(active, row, user, db);
      const status = active.stopping || active.alarm !== undefined ? 'stopped' : 'done';
      await this.#store(active, db, 'the end of the run', () => db.runs.update(row.id, { status, message: active.alarm }));
      this.#emit({ type: 'status', status, message: active.alarm });
    } catch (thrown) {
      const { signal } = active.abort;
      await new Promise((resolve) => setTimeout(resolve, LOSS_SETTLES_MS));
      const error: unknown = signal.aborted ? signal.reason : thrown;
      const lost = error instanceof DeviceLostError;
      const message = error instanceof Error ? error.message : String(error);
      await this.#setStatus(row.id, lost ? 'interrupted' : 'failed', message);
    }
  }

  async #train(active: ActiveRun, row: RunRow, user: UserConfig, db: RunDatabase): Promise<void> {
    const { config, id } = row;
    const files = startingFiles(await this.#parts.bundledModel(row.request.model), config, row.request.model);
    const dataset = row.request.dataset === undefined ? undefined : await keptConversations(db, row.request.dataset);
    const loaded = await loadCheckpoint(db, id);
    const { checkpoint } = loaded;
    await trialWrite(CHECKPOINTS_TRIED * checkpointBytes(files, config)).catch((error: unknown) => {
      throw storageError(error, `${CHECKPOINTS_TRIED} checkpoints of the run`);
    });
    this.#emit({
      type: 'progress',
      step: checkpoint?.step ?? 0,
      totalSteps: config.total_training_steps,
      phase: 'compile',
      done: 0,
      total: 1,
    });
    const { engine, meter, ...staged } = await this.#host.stage(files, config, user, sizeOf(config, concurrency(config)), config);
    const stage = { ...staged.stage, environments: this.#patient(active, staged.stage.environments) };
    active.model = async () => trainedFiles(files, await engine.weights());
    const reference = await restore(engine, checkpoint, config);
    const origin = await originOf(this.#host, files, config, stage.domain.data);
    const doneSteps = checkpoint?.step ?? 0;
    if (meter) {
      active.meter = meter;
      meter.spend(await costSoFar(db, id));
    }
    if (user.mode === 'endpoint' && row.step > doneSteps) {
      await this.#pauseActive(active, replayQuestion(doneSteps, row.step));
      await active.paused;
      if (active.stopping) return;
    }
    await supersede(db, id, doneSteps);
    await this.#setStatus(id, active.paused ? 'paused' : 'running', resumeNote(loaded, origin) || undefined);
    let step = doneSteps;
    let finished = doneSteps;
    let saved = doneSteps;
    const store = <T>(what: string, write: () => Promise<T>) => this.#store(active, db, what, write);
    const save = async () => {
      if (saved === finished) return;
      const read = await readCheckpoint(id, finished, engine, reference, origin);
      await store(`the checkpoint of step ${finished}`, () => keepCheckpoint(db, read));
      saved = finished;
      this.#emit({ type: 'checkpoint', step: finished });
    };
    const { val_user } = row.request;
    const keepHeldOut = ({ report, trajectories }: Evaluation) =>
      keepEvaluation(db, {
        id: `${id}@${step}`,
        model: { kind: 'run', run: id, step },
        name: `${row.name}@${step}`,
        settings: heldOutSettings(config, val_user ?? user),
        report,
        trajectories,
      });
    await trainRun(stage, engine, config, concurrency(config), {
      doneSteps,
      doneMetrics: (await db.metrics.where('[run+step]').between([id, 1], [id, doneSteps], true, true).toArray()).map(
        ({ values }) => values,
      ),
      dataset,
      ...(val_user && { valUsers: await this.#host.users(val_user) }),
      signal: active.abort.signal,
      // A run pauses between steps only, so the weights are those of the last finished step.
      gate: async () => {
        const overBudget = () => (finished === step && !active.stopping && meter?.overBudget) || '';
        do {
          if (overBudget()) await this.#pauseActive(active, `${overBudget()}: raise the budget to go on.`);
          if (active.paused) await save();
          await active.paused;
        } while (overBudget());
      },
      ...(meter && { takeUsage: () => meter.takeMetrics() }),
      shouldStop: () => active.stopping,
      onAlarm: (alarm) => (active.alarm = `Stopped by an alarm. ${alarmText(alarm)}`),
      onStepStart: (next) => (step = next),
      onPhase: (phase, done, total) => this.#emit({ type: 'progress', step, totalSteps: config.total_training_steps, phase, done, total }),
      onEvaluationProgress: (done, total) =>
        this.#emit({ type: 'progress', step, totalSteps: config.total_training_steps, phase: 'evaluate', done, total }),
      onTrialStart: (episode) => this.#live.beginTrial(step, episode),
      onTrial: (trajectory) => this.#live.end(trajectory),
      onEpisode: (episode) => this.#live.begin(step, episode),
      onRollout: (trajectory) => {
        this.#live.end(trajectory);
        this.#emit({ type: 'rollout', rollout: summarize(trajectory, step, null) });
      },
      onBaseline: async (evaluation, usage) => {
        const metrics = { step: 0, ...evaluationMetrics(evaluation.report, config), ...usage };
        await store('the first evaluation', () => keepHeldOut(evaluation));
        await store('the first metrics', () => db.metrics.put({ run: id, step: 0, values: metrics }));
        this.#emit({ type: 'metrics', metrics });
      },
      onStep: async (result, evaluation) => {
        if (evaluation) await store(`the evaluation of step ${step}`, () => keepHeldOut(evaluation));
        const rollouts = await store(`step ${step}`, () => keepStep(db, id, result));
        for (const rollout of rollouts) this.#emit({ type: 'rollout', rollout });
        this.#emit({ type: 'metrics', metrics: result.metrics });
        finished = step;
        // To play a step again with a language model as the customer costs money or much time.
        if (user.mode !== 'scripted' || (config.save_freq > 0 && step % config.save_freq === 0)) await save();
      },
    });
    await save();
  }

  async #keepBudget(run: string, budget: number): Promise<void> {
    const runs = this.#parts.database().runs;
    const row = await runs.get(run);
    if (row?.request.user.mode === 'endpoint')
      await runs.update(run, { request: { ...row.request, user: { ...row.request.user, budget } } });
  }

  /** The page gets the status even if the storage is full. The row of a run that nobody trains is shown as interrupted. */
  async #setStatus(run: string, status: RunStatus, message?: string): Promise<void> {
    this.#emit({ type: 'status', status, message });
    await this.#parts
      .database()
      .runs.update(run, { status, message })
      .catch((error: unknown) => console.error(error));
  }

  /** Stores a result. When the storage fails, the run pauses with the result in memory, and tries again when it goes on. */
  async #store<T>(active: ActiveRun, db: RunDatabase, what: string, write: () => Promise<T>): Promise<T> {
    const attempt = async () => {
      if (!db.isOpen()) await db.open();
      return db.writeResults(active.id, write);
    };
    return this.#orPause(active, what, attempt, () => true);
  }

  /** The tool databases are in the same storage: when it is full, the run pauses within the call. A failed call wrote nothing. */
  #patient(active: ActiveRun, environments: Environments): Environments {
    const patiently = <T>(call: () => Promise<T>) => this.#orPause(active, 'the tool database', call, isStorageFull);
    return {
      domain: (...query) => patiently(() => environments.domain(...query)),
      tasks: (...query) => patiently(() => environments.tasks(...query)),
      start: (...task) => patiently(() => environments.start(...task)),
      call: (...call) => patiently(() => environments.call(...call)),
      verify: (...episode) => patiently(() => environments.verify(...episode)),
      fork: (...episode) => patiently(() => environments.fork(...episode)),
      close: (...episode) => patiently(() => environments.close(...episode)),
    };
  }

  async #orPause<T>(active: ActiveRun, what: string, work: () => Promise<T>, isExpected: (error: unknown) => boolean): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isExpected(error)) throw error;
        const { message } = storageError(error, what);
        if (active.stopping || active.abort.signal.aborted) throw new Error(message, { cause: error });
        active.paused ??= new Promise((resolve) => (active.unpause = resolve));
        await this.#setStatus(active.id, 'paused', `Paused, as ${what} is not stored: ${message}. Resume stores it.`);
        await active.paused;
      }
    }
  }

  /** It only reads, so it changes nothing that is sampled. */
  #showLive(): void {
    if (this.active === null || this.#watched !== this.active) return;
    const news = this.#live.news();
    if (news) this.#emit(news);
  }

  #emit(event: RunEvent): void {
    const run = this.#active?.id ?? '';
    // In an experiment, a run begins right after the end of another.
    if (run !== this.#pending.run) this.#flush(run);
    // New progress replaces old progress, except `compile`: it tells the page from which step on the run starts again.
    if (event.type === 'progress')
      this.#pending.events = this.#pending.events.filter((e) => e.type !== 'progress' || e.phase === 'compile');
    this.#pending.events.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    setTimeout(() => {
      this.#flushing = false;
      this.#flush(this.#pending.run);
    }, EVENT_INTERVAL_MS);
  }

  /** Sends what is pending. The next events are those of `next`. */
  #flush(next: string): void {
    const { run, events } = this.#pending;
    this.#pending = { run: next, events: [] };
    if (events.length > 0) this.#listener?.(run, events);
  }
}

/** Writes the rows of a step, and deletes most text of a step that is old. Call it in a transaction. */
async function keepStep(db: RunDatabase, run: string, { metrics, trajectories, advantages }: StepResult): Promise<RolloutSummary[]> {
  const { step } = metrics;
  const rollouts = trajectories.map((t) => summarize(t, step, advantages.get(t.id) ?? null));
  await db.metrics.put({ run, step, values: metrics });
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
