/** @file The runs of the page. At most one is active at a time. */
import type { RunEvent } from './messages.ts';
import type { SessionParts } from './session-parts.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { ModelFiles } from '../records/model.ts';
import type { RunRequest, RunRow, RunStatus } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { storageError } from '../base/storage-error.ts';
import { useRun } from '../storage/run-lock.ts';
import { alarmText } from '../training/alarms.ts';
import { grpoConfig } from '../training/config.ts';
import { DatabaseSink, writeResults } from './database-sink.ts';
import { driveRun } from './driver.ts';
import { DeviceLostError, type EngineHost } from './engine-host.ts';
import { withoutKey } from './evaluations.ts';
import { fitted } from './fitted.ts';
import type { GpuTurns } from './gpu-turns.ts';
import { AttendedRun, untilDone } from './run-control.ts';
import { RunEvents } from './run-events.ts';
import { runName } from './run-name.ts';

/** The experiment and variant to which a run belongs, and whether the caller has already taken the GPU. */
export interface LaunchOptions extends Pick<RunRow, 'experiment' | 'variant'> {
  gpuTaken?: boolean;
}

interface Launched {
  row: RunRow;
  user: UserConfig;
  /** The files of the run's model. Absent if they were not read yet. */
  model?: ModelParts;
}

interface ActiveRun {
  id: string;
  control: AttendedRun;
  finished: Promise<void>;
}

export class Runs {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  readonly #turns: GpuTurns;
  readonly #events = new RunEvents();
  #active: ActiveRun | null = null;

  constructor(parts: SessionParts, host: EngineHost, turns: GpuTurns) {
    this.#parts = parts;
    this.#host = host;
    this.#turns = turns;
  }

  listen(listener: (run: string, events: RunEvent[]) => void): void {
    this.#events.listen(listener);
  }

  watch(run: string, on: boolean): void {
    this.#events.watch(run, on);
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
    const read = async () => {
      const model = await this.#parts.bundledModel(request.model);
      const fit = await fitted(this.#parts.environments, model, config, request.overrides);
      return { row: { ...row, config: fit }, user: request.user, model };
    };
    await this.#launch(row.id, read, gpuTaken);
    return row.id;
  }

  async resume(run: string, user?: UserConfig, { gpuTaken }: LaunchOptions = {}): Promise<void> {
    const read = async () => {
      const row = await this.#parts.database().runs.get(run);
      if (!row) throw new Error(`there is no run "${run}" in this browser`);
      if (row.imported) throw new Error(`run "${row.name}" was imported: it can be read, not gone on with`);
      if (row.superseded) throw new Error(`run "${row.name}" was superseded: go on with the run that it came from`);
      return { row, user: user ?? row.request.user };
    };
    await this.#launch(run, read, gpuTaken);
  }

  async pause(): Promise<void> {
    await this.#active?.control.pause();
  }

  /** The model of the active run, with its current weights. @throws if no run is training */
  async model(): Promise<ModelFiles> {
    const ready = this.#active?.control.run;
    if (!ready) throw new Error('no run trains now: its model is among the checkpoints');
    return ready.model();
  }

  /** @throws UserError if `budget` is not above what the customer has already cost */
  async unpause(budget?: number): Promise<void> {
    if (!this.#active?.control.paused) return;
    const { id, control } = this.#active;
    if (budget !== undefined && control.run?.meter) {
      control.run.meter.raiseBudget(budget);
      await this.#keepBudget(id, budget);
    }
    await control.unpause();
  }

  async stop(): Promise<void> {
    const active = this.#active;
    await active?.control.stop();
    await active?.finished;
  }

  /** Calls `read` only when it is certain that no tab can delete the run any more. */
  async #launch(id: string, read: () => Promise<Launched>, gpuTaken = false): Promise<void> {
    const release = gpuTaken ? async () => {} : await this.#turns.take('train');
    const freed = async (error: unknown) => {
      await release();
      throw error;
    };
    const unuse = await useRun(id).catch(freed);
    const launched = await read().catch(async (error: unknown) => {
      await unuse();
      return freed(error);
    });
    const control = new AttendedRun((status, message) => this.#setStatus(id, status, message));
    const active: ActiveRun = { id, control, finished: Promise.resolve() };
    this.#active = active;
    this.#events.begin(id);
    active.finished = this.#run(active, launched).finally(async () => {
      this.#active = null;
      this.#events.end();
      await unuse();
      await release();
    });
  }

  /** Trains to the end and stores the final status. The promise never rejects. */
  async #run({ id, control }: ActiveRun, { row, user, model }: Launched): Promise<void> {
    const db = this.#parts.database();
    try {
      await db.runs.put({ ...row, status: 'starting', message: undefined }).catch((error: unknown) => {
        throw storageError(error, 'the run');
      });
      this.#events.emit({ type: 'status', status: 'starting' });
      const running = (note: string) => this.#setStatus(id, control.paused ? 'paused' : 'running', note || undefined);
      const { alarm } = await driveRun(this.#host, new DatabaseSink(this.#parts, { row, user, model }, this.#events, running), control);
      const status = control.stopping || alarm ? 'stopped' : 'done';
      const message = alarm && `Stopped by an alarm. ${alarmText(alarm)}`;
      await untilDone(control, 'the end of the run', () => writeResults(db, id, () => db.runs.update(id, { status, message })));
      this.#events.emit({ type: 'status', status, message });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await this.#setStatus(id, error instanceof DeviceLostError ? 'interrupted' : 'failed', message);
    }
  }

  async #keepBudget(run: string, budget: number): Promise<void> {
    const runs = this.#parts.database().runs;
    const row = await runs.get(run);
    if (row?.request.user.mode === 'endpoint')
      await runs.update(run, { request: { ...row.request, user: { ...row.request.user, budget } } });
  }

  /**
   * Sends the status to the page even if it cannot be stored because the storage is full. A stored run that no tab trains is
   * shown as interrupted.
   */
  async #setStatus(run: string, status: RunStatus, message?: string): Promise<void> {
    this.#events.emit({ type: 'status', status, message });
    await this.#parts
      .database()
      .runs.update(run, { status, message })
      .catch((error: unknown) => console.error(error));
  }
}
