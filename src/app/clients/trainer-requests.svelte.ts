/** @file The connection to the trainer's workers, and the requests that change no run. New workers start after a failure. */
import * as comlink from 'comlink';
import type { GrpoConfig } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { Connection, Trainer, WorkerWatch } from '../../trainer/connect.ts';
import type { GpuUse } from '../../trainer/gpu-uses.ts';
import type {
  BenchReport,
  PlayRequest,
  Progress,
  Rescored,
  RescoreRequest,
  RunEvent,
  SelfTestReport,
  Viewer,
} from '../../trainer/messages.ts';
import type { NeedsRequest, RunNeeds } from '../../trainer/estimates.ts';
import type { RunPlan } from '../../trainer/run-plan.ts';

export type RunListener = (run: string, events: readonly RunEvent[]) => void;

/** After a second failure of the workers within this time, no new ones are started. */
const FAILURE_WINDOW_MS = 120_000;

export abstract class TrainerRequests {
  /** The worker that has not answered for a while; '' if all answer. */
  silent = $state.raw('');
  /** What the trainer does beside its counted progress, such as loading weights; '' for nothing. */
  activity = $state.raw('');

  /** One entry for each open request: the task for which it uses the GPU, or null if it needs no GPU. */
  protected requests = $state.raw<readonly (GpuUse | null)[]>([]);
  readonly #connect: (watch: WorkerWatch) => Promise<Connection>;
  readonly #listeners = new Set<RunListener>();
  #workers: Promise<Connection & { failure: Promise<never> }> | null = null;
  #lastFailure = -Infinity;

  constructor(connect: (watch: WorkerWatch) => Promise<Connection>) {
    this.#connect = connect;
  }

  /**
   * Called when a worker has failed.
   * @param again true if workers had also failed shortly before
   * @returns the message of the error that all open requests get
   */
  protected abstract failed(message: string, again: boolean): string;

  /**
   * Continues a conversation that the visitor takes part in. If `n` is 1, calls `viewer` with each new act while it is played.
   * @throws the trainer's error; also if the request is stopped
   */
  async play(request: PlayRequest, progress: Progress = () => {}, viewer?: Viewer): Promise<Trajectory[]> {
    const use = request.agent === undefined || request.agent === 'model' ? 'play' : null;
    return this.using(use, async (trainer) => trainer.play(request, comlink.proxy(progress), viewer && comlink.proxy(viewer)));
  }

  /** Computes the log-probabilities of a conversation with other weights. @throws the trainer's error; also if the request is stopped */
  async rescore(request: RescoreRequest): Promise<Rescored> {
    return this.using('score', async (trainer) => trainer.rescore(request));
  }

  /** Measures the speed of the GPU. `stopPlay` ends the measurement. @throws the trainer's error; also if the measurement is stopped */
  async bench(progress: Progress): Promise<BenchReport> {
    return this.using('bench', async (trainer) => (await trainer.bench([], comlink.proxy(progress))).report);
  }

  /** Runs every check of the GPU's self-test. @throws the trainer's error */
  async selfTest(): Promise<SelfTestReport> {
    return this.using('bench', async (trainer) => trainer.selfTest());
  }

  /** The GPU memory and the time that a run would take. @param given the settings that were given @throws the trainer's error */
  planRun(model: string, config: GrpoConfig, given: Partial<GrpoConfig>): Promise<RunPlan> {
    return this.call(async (trainer) => trainer.planRun(model, config, given));
  }

  /** What runs need on this GPU, from the shapes of their models. @throws the trainer's error, also while the GPU is used */
  needs(asked: readonly NeedsRequest[]): Promise<RunNeeds[]> {
    return this.call(async (trainer) => trainer.needs(asked));
  }

  async stopPlay(): Promise<void> {
    await this.call((trainer) => trainer.stopPlay());
  }

  /** Calls `listener` with every batch of events, until the returned function is called. */
  subscribe(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks the trainer to send the `live` events of a run, until the returned function is called. */
  watch(run: string): () => void {
    // An error needs no message here: a worker that fails is reported elsewhere.
    const ask = (on: boolean) => void this.call((trainer) => trainer.watch(run, on)).catch(() => {});
    ask(true);
    return () => ask(false);
  }

  /** Terminates the workers and starts new ones. The step in progress is lost. */
  async restart(): Promise<void> {
    (await this.#workers)?.end(`the ${this.silent} worker did not answer`);
    // The visitor asked for the end of the workers, so it does not count as their failure.
    this.#lastFailure = -Infinity;
  }

  /** Tests the settings of an endpoint, or asks the endpoint for its models. Runs in the customers' worker. @throws if a worker fails */
  askEndpoint: Connection['user']['askEndpoint'] = async (...asked) => {
    const { user, failure } = await this.#connection;
    return Promise.race([user.askEndpoint(...asked), failure]);
  };

  /** Sends a request to the trainer. @throws the trainer's error; also if a worker fails */
  protected async call<T>(request: (trainer: Trainer) => Promise<T>): Promise<T> {
    const { trainer, failure } = await this.#connection;
    return Promise.race([request(trainer), failure]);
  }

  /** The connection to the workers. Starts workers if none run. */
  get #connection() {
    return (this.#workers ??= this.#open());
  }

  async #open(): Promise<Connection & { failure: Promise<never> }> {
    let fail = (_: Error) => {};
    const failure = new Promise<never>((_, reject) => (fail = reject));
    failure.catch(() => {}); // each open request gets this rejection
    const failed = ({ message }: Error) => fail(new Error(this.#workersFailed(message)));
    const connection = await Promise.race([this.#connect({ failed, silent: (name) => (this.silent = name ?? '') }), failure]);
    const listener = comlink.proxy((run: string, events: RunEvent[]) => this.hear(run, events));
    const told = comlink.proxy((text: string) => void (this.activity = text));
    await Promise.race([Promise.all([connection.trainer.listen(listener), connection.trainer.listenToActivities(told)]), failure]);
    return { ...connection, failure };
  }

  #workersFailed(message: string): string {
    const now = performance.now();
    const again = now - this.#lastFailure < FAILURE_WINDOW_MS;
    this.#lastFailure = now;
    this.#workers = null;
    this.activity = '';
    return this.failed(message, again);
  }

  /** Passes the events of a run to all listeners. */
  protected hear(run: string, events: readonly RunEvent[]): void {
    for (const listener of this.#listeners) listener(run, events);
  }

  /** Adds the request's use of the GPU to `requests` until the worker has answered. */
  protected async using<T>(use: GpuUse | null, request: (trainer: Trainer) => Promise<T>): Promise<T> {
    this.requests = [...this.requests, use];
    try {
      return await this.call(request);
    } finally {
      this.requests = this.requests.toSpliced(this.requests.indexOf(use), 1);
    }
  }
}
