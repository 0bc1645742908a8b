/** @file The page's side of the trainer worker: the device, the active run and the commands. There is one client per page. */
import * as comlink from 'comlink';
import type { EvaluationRequest } from '../../records/evaluation.ts';
import type { RunRequest, RunStatus } from '../../records/run.ts';
import type { UserConfig } from '../../records/user.ts';
import type { Trainer } from '../../trainer/connect.ts';
import { DeviceLosses } from '../../trainer/device-losses.ts';
import { gpuHolder, watchGpu } from '../../trainer/gpu-lock.ts';
import type { GpuUse } from '../../trainer/gpu-uses.ts';
import type { DatasetRequest, EngineInfo, RunEvent } from '../../trainer/messages.ts';
import { screenLock } from '../kit/wake-lock.ts';
import { availability } from './availability.ts';
import { TrainerRequests } from './trainer-requests.svelte.ts';

export type RunProgress = Extract<RunEvent, { type: 'progress' }>;

/** The trainer frees the GPU a moment after it says that its work is done. The page looks again for another tab's use after this time. */
const LOCK_FREE_MS = 1000;

export class TrainerClient extends TrainerRequests {
  /** Null until the worker has answered. */
  info = $state.raw<EngineInfo | null>(null);
  activeRun = $state.raw<string | null>(null);
  /** The experiment whose queue runs in this tab. Between two of its runs, no run is active. */
  activeExperiment = $state.raw<string | null>(null);
  status = $state.raw<RunStatus | null>(null);
  /** Why the active run has this status; '' if there is nothing to say. */
  reason = $state.raw('');
  /** Whether the browser promised to keep what is stored; null before the first start. */
  isPersistent = $state.raw<boolean | null>(null);
  progress = $state.raw<RunProgress | null>(null);
  /** Tokens per second in the newest step. */
  throughput = $state.raw<number | null>(null);
  /** The task for which another tab uses the GPU; null for none. */
  otherTab = $state.raw<GpuUse | null>(null);
  /** The last error, which a banner shows; '' if there was no error. */
  problem = $state.raw('');
  /** True while the trainer has not answered a command. */
  busy = $state.raw(false);
  /** True after the device was lost, until the run resumes. */
  recovering = $state.raw(false);

  /** The progress of the active evaluation. */
  evaluation = $state.raw<{ done: number; total: number; label: string } | null>(null);

  /** How many demonstrations the demonstrators have made for a dataset; null while they make none. */
  synthesis = $state.raw<{ done: number; total: number } | null>(null);

  #booted = () => {};
  /** Resolves when the worker has said whether there is a device. */
  readonly booted = new Promise<void>((resolve) => (this.#booted = resolve));
  readonly #losses = new DeviceLosses();
  #user: UserConfig | undefined;
  #cancelled = false;
  /** Connects to the worker, asks it for the GPU device and watches other tabs. Never rejects: `info` and `problem` hold errors. */
  async boot(): Promise<void> {
    watchGpu(() => void this.#lookAtLock());
    const keepOn = screenLock(navigator.wakeLock, document);
    $effect.root(() => {
      $effect(() => {
        if (this.#uses) this.otherTab = null;
        else setTimeout(() => void this.#lookAtLock(), LOCK_FREE_MS);
      });
      $effect(() => keepOn((this.activeRun ?? this.activeExperiment) !== null && this.status !== 'paused'));
    });
    try {
      this.info = await this.call((trainer) => trainer.engineInfo());
    } catch (error) {
      this.info = unavailable(messageOf(error));
    }
    this.#booted();
  }

  /** Why the GPU may not be used for `use` now, in one sentence; '' if it may. */
  availability(use: GpuUse): string {
    const { info, otherTab, busy } = this;
    return availability({ info, thisTab: this.#useBeside(use), otherTab, busy }, use);
  }

  /** The task for which this tab uses the GPU. A short request for the same `use` does not count: its page shows that it runs. */
  #useBeside(use: GpuUse): GpuUse | null {
    if (this.activeExperiment !== null) return 'experiment';
    if (this.activeRun !== null) return 'train';
    if (this.evaluation) return 'evaluate';
    return this.requests.find((other) => other !== null && other !== use) ?? null;
  }

  /** Returns the run's id. If the run could not start, returns null, and `problem` says why. */
  async start(request: RunRequest): Promise<string | null> {
    void this.#askToKeep();
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
  unpause = (budget?: number) => this.#command((trainer) => trainer.unpause(budget));
  stop = () => this.#command((trainer) => trainer.stop());
  /** Returns the model of the active run with its present weights. If that fails, returns null, and `problem` says why. */
  model = () => this.#command((trainer) => trainer.model());

  /** Trains the runs of an experiment that are not finished. Resolves when this queue ends; `problem` says why it ended early. */
  async runExperiment(id: string, user?: UserConfig): Promise<void> {
    this.activeExperiment = id;
    this.problem = '';
    try {
      await this.call((trainer) => trainer.runExperiment(id, user));
    } catch (error) {
      this.problem = messageOf(error);
    } finally {
      this.activeExperiment = null;
    }
  }

  stopExperiment = () => this.#command((trainer) => trainer.stopExperiment());

  /** Plays evaluations one after another. Returns their ids. If one was cancelled or failed, returns null; `problem` says why it failed. */
  async evaluate(requests: EvaluationRequest[]): Promise<string[] | null> {
    this.evaluation = { done: 0, total: 0, label: 'evaluation' };
    this.problem = '';
    this.#cancelled = false;
    try {
      const progress = (done: number, total: number, label: string) => (this.evaluation = { done, total, label });
      return await this.call((trainer) => trainer.evaluateAndKeep(requests, comlink.proxy(progress)));
    } catch (error) {
      if (!this.#cancelled) this.problem = messageOf(error);
      return null;
    } finally {
      this.evaluation = null;
    }
  }

  /** Makes a dataset without the GPU, and returns its id. @throws the trainer's error; also if the request is cancelled */
  async synthesize(request: DatasetRequest): Promise<string> {
    this.synthesis = { done: 0, total: request.options.count };
    try {
      const progress = (done: number, total: number) => (this.synthesis = { done, total });
      return await this.call((trainer) => trainer.synthesizeAndKeep(request, comlink.proxy(progress)));
    } finally {
      this.synthesis = null;
    }
  }

  async cancelSynthesis(): Promise<void> {
    await this.call((trainer) => trainer.cancelSynthesis());
  }

  async cancelEvaluation(): Promise<void> {
    this.#cancelled = true;
    await this.call((trainer) => trainer.cancelEvaluation());
  }

  /** Asks the browser to keep what is stored; the browser may ask the visitor. If it refuses, it may clear runs when space runs short. */
  async #askToKeep(): Promise<void> {
    this.isPersistent = (await navigator.storage?.persist?.().catch(() => false)) ?? false;
  }

  /** Starts new workers after the first failure. If they fail too, or if the first workers did not load, the page must be reloaded. */
  protected override failed(message: string, again: boolean): string {
    this.silent = '';
    this.evaluation = null;
    this.activeExperiment = null;
    this.#end();
    if (again || this.info?.state !== 'ready') {
      this.info = unavailable(message);
      return (this.problem = `${message}. Reload the page; what was saved is still there.`);
    }
    this.call((trainer) => trainer.engineInfo()).then(
      (info) => (this.info = info),
      () => {},
    );
    return (this.problem = `${message}. New workers were started. What was saved is still there: a run can be resumed.`);
  }

  async #command<T>(command: (trainer: Trainer) => Promise<T>): Promise<T | null> {
    this.busy = true;
    this.problem = '';
    try {
      return await this.call(command);
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

  protected override hear(run: string, events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'progress') this.progress = event;
      else if (event.type === 'metrics') this.throughput = event.metrics['perf/throughput'] ?? this.throughput;
      else if (event.type === 'status') this.#setStatus(run, event.status, event.message);
    }
    super.hear(run, events);
  }

  #setStatus(run: string, status: RunStatus, message?: string): void {
    // The runs of an experiment are started and resumed by the trainer, not by the page.
    const queued = this.activeExperiment !== null;
    if (queued && status === 'starting' && this.activeRun !== run) this.#begin(run);
    this.status = status;
    this.reason = message ?? '';
    if (status === 'failed') this.problem = message ?? 'The run failed.';
    if (status === 'done' || status === 'stopped' || status === 'failed' || status === 'interrupted') this.#end();
    if (status === 'interrupted' && !queued) void this.#recover(run, message);
  }

  /** Waits a second, in which the browser restarts its GPU process, and resumes the run from its last checkpoint. */
  async #recover(run: string, message = 'the GPU was reset'): Promise<void> {
    if (!this.#losses.add()) {
      this.problem = `The GPU was lost three times within two minutes (${message}). Try a smaller preset, or resume by hand.`;
      return;
    }
    this.recovering = true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await this.resume(run, this.#user);
    try {
      this.info = await this.call((trainer) => trainer.engineInfo());
    } catch (error) {
      this.problem = messageOf(error);
    }
    this.recovering = false;
  }

  /** Whether this tab may hold the lock of the GPU. */
  get #uses(): boolean {
    return this.activeRun !== null || this.activeExperiment !== null || this.evaluation !== null || this.busy || this.requests.length > 0;
  }

  async #lookAtLock(): Promise<void> {
    const before = this.#uses;
    const holder = await gpuHolder();
    // The trainer may measure the GPU for a plan, which is no use of its own.
    const isOwn = holder !== null && (await this.call((trainer) => trainer.holdsGpu()).catch(() => false));
    // While the answers were on their way, this tab may have used the GPU. The holder may then be this tab, so it is ignored.
    this.otherTab = isOwn || before || this.#uses ? null : holder;
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function unavailable(message: string): EngineInfo {
  return {
    state: 'unavailable',
    message,
    vendor: '',
    architecture: '',
    description: '',
    software: false,
    subgroupSize: 0,
    selfTest: 'not run',
  };
}
