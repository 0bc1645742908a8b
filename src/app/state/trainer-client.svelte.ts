/** @file The trainer as the page knows it: the device, the active run, the four commands. Lives as long as the page. */
import * as comlink from 'comlink';
import type { EvaluationRequest } from '../../evaluation/types.ts';
import type { Trajectory } from '../../agent/types.ts';
import type { Progress } from '../../training/api.ts';
import type { Rescored, RescoreRequest } from '../../training/commands.ts';
import type { PlayRequest } from '../../training/play.ts';
import type { EngineInfo, RunEvent, RunRequest, RunStatus } from '../../training/types.ts';
import type { UserConfig } from '../../users/types.ts';
import type { Trainer } from './connect-trainer.ts';
import { screenLock } from './wake-lock.ts';

export type RunProgress = Extract<RunEvent, { type: 'progress' }>;
export type RunListener = (run: string, events: readonly RunEvent[]) => void;

const LOCK = 'mua-trainer';
const LOCK_POLL_MS = 3000;
/** A second device loss within this time ends the automatic resuming. */
const LOSS_WINDOW_MS = 120_000;

export class TrainerClient {
  /** Null until the device has been asked for. */
  info = $state.raw<EngineInfo | null>(null);
  activeRun = $state.raw<string | null>(null);
  status = $state.raw<RunStatus | null>(null);
  progress = $state.raw<RunProgress | null>(null);
  /** Tokens a second of the newest step. */
  throughput = $state.raw<number | null>(null);
  /** Another tab holds the trainer's lock. */
  otherTabTrains = $state.raw(false);
  /** What went wrong last, for the banner; '' when nothing did. */
  problem = $state.raw('');
  /** A command is under way. */
  busy = $state.raw(false);
  /** The device was lost and the run is being resumed. */
  recovering = $state.raw(false);

  /** The evaluation under way. */
  evaluation = $state.raw<{ done: number; total: number; label: string } | null>(null);

  readonly #connect: (onFailure: (error: Error) => void) => Promise<Trainer>;
  readonly #listeners = new Set<RunListener>();
  #trainer: Promise<Trainer> | null = null;
  #lastLoss = -Infinity;
  #user: UserConfig | undefined;
  #cancelled = false;

  constructor(connect: (onFailure: (error: Error) => void) => Promise<Trainer>) {
    this.#connect = connect;
  }

  /** Connects, asks for the device and watches for other tabs. Never rejects: what fails is shown. */
  async boot(): Promise<void> {
    void this.#watchLock();
    const keepOn = screenLock(navigator.wakeLock, document);
    $effect.root(() => {
      $effect(() => keepOn(this.activeRun !== null && this.status !== 'paused'));
    });
    try {
      const trainer = await this.#ready();
      this.info = await trainer.engineInfo();
    } catch (error) {
      this.info = unavailable(messageOf(error));
    }
  }

  get canTrain(): boolean {
    return this.info?.state === 'ready' && this.info.selfTest !== 'failed' && this.activeRun === null && this.evaluation === null && !this.otherTabTrains && !this.busy;
  }

  /** Returns the run's id, or null when it could not start (`problem` says why). */
  async start(request: RunRequest): Promise<string | null> {
    return this.#command(async (trainer) => {
      this.#user = request.user;
      this.#begin(await trainer.start(request));
      return this.activeRun;
    });
  }

  async resume(run: string, user?: UserConfig): Promise<void> {
    await this.#command(async (trainer) => {
      this.#user = user;
      await trainer.resume(run, user);
      this.#begin(run);
    });
  }

  pause = () => this.#command((trainer) => trainer.pause());
  unpause = () => this.#command((trainer) => trainer.unpause());
  stop = () => this.#command((trainer) => trainer.stop());

  /** Plays evaluations in turn; returns their ids, or null when they failed (`problem` says why) or were cancelled. */
  async evaluate(requests: EvaluationRequest[]): Promise<string[] | null> {
    this.evaluation = { done: 0, total: 0, label: 'evaluation' };
    this.problem = '';
    this.#cancelled = false;
    try {
      const progress = (done: number, total: number, label: string) => (this.evaluation = { done, total, label });
      return await (await this.#ready()).evaluateAndKeep(requests, comlink.proxy(progress));
    } catch (error) {
      if (!this.#cancelled) this.problem = messageOf(error);
      return null;
    } finally {
      this.evaluation = null;
    }
  }

  async cancelEvaluation(): Promise<void> {
    this.#cancelled = true;
    await (await this.#ready()).cancelEvaluation();
  }

  /** Plays on in a conversation that the visitor takes part in. @throws what the trainer throws; also that it was stopped */
  async play(request: PlayRequest, progress: Progress = () => {}): Promise<Trajectory[]> {
    return (await this.#ready()).play(request, comlink.proxy(progress));
  }

  /** Scores a conversation by other weights. @throws what the trainer throws; also that it was stopped */
  async rescore(request: RescoreRequest): Promise<Rescored> {
    return (await this.#ready()).rescore(request);
  }

  async stopPlay(): Promise<void> {
    await (await this.#ready()).stopPlay();
  }

  /** Hears every batch of events until the returned function is called. */
  subscribe(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #ready(): Promise<Trainer> {
    this.#trainer ??= (async () => {
      let failed = (_: Error) => {};
      const failure = new Promise<never>((_, reject) => (failed = reject));
      failure.catch((error: unknown) => this.#workerFailed(messageOf(error)));
      const trainer = await Promise.race([this.#connect(failed), failure]);
      await trainer.listen(comlink.proxy((run: string, events: RunEvent[]) => this.#hear(run, events)));
      return trainer;
    })();
    return this.#trainer;
  }

  #workerFailed(message: string): void {
    this.problem = `${message}. Reload the page; what was saved is still there.`;
    this.info = unavailable(message);
    this.evaluation = null;
    this.#end();
  }

  async #command<T>(command: (trainer: Trainer) => Promise<T>): Promise<T | null> {
    this.busy = true;
    this.problem = '';
    try {
      return await command(await this.#ready());
    } catch (error) {
      this.problem = messageOf(error);
      return null;
    } finally {
      this.busy = false;
    }
  }

  #begin(run: string): void {
    this.activeRun = run;
    this.status = 'starting';
    this.progress = null;
    this.throughput = null;
  }

  #end(): void {
    this.activeRun = null;
    this.progress = null;
  }

  #hear(run: string, events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'progress') this.progress = event;
      else if (event.type === 'metrics') this.throughput = event.metrics['perf/throughput'] ?? this.throughput;
      else if (event.type === 'status') this.#setStatus(run, event.status, event.message);
    }
    for (const listener of this.#listeners) listener(run, events);
  }

  #setStatus(run: string, status: RunStatus, message?: string): void {
    this.status = status;
    if (status === 'failed') this.problem = message ?? 'The run failed.';
    if (status === 'done' || status === 'stopped' || status === 'failed' || status === 'interrupted') this.#end();
    if (status === 'interrupted') void this.#recover(run, message);
  }

  /** The GPU process restarts in a moment: goes on once by itself, from the last checkpoint. */
  async #recover(run: string, message = 'the GPU was reset'): Promise<void> {
    const now = performance.now();
    const again = now - this.#lastLoss < LOSS_WINDOW_MS;
    this.#lastLoss = now;
    if (again) {
      this.problem = `The GPU was lost twice within two minutes (${message}). Try a smaller preset, or resume by hand.`;
      return;
    }
    this.recovering = true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await this.resume(run, this.#user);
    try {
      this.info = await (await this.#ready()).engineInfo();
    } catch (error) {
      this.problem = messageOf(error);
    }
    this.recovering = false;
  }

  /** Locks are the one thing tabs share that dies with its tab. */
  async #watchLock(): Promise<void> {
    if (!navigator.locks) return;
    for (;;) {
      const { held = [] } = await navigator.locks.query();
      this.otherTabTrains = this.activeRun === null && this.evaluation === null && !this.busy && held.some(({ name }) => name === LOCK);
      await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
    }
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function unavailable(message: string): EngineInfo {
  return { state: 'unavailable', message, vendor: '', architecture: '', description: '', software: false, subgroupSize: 0, selfTest: 'not run' };
}
