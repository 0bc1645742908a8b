/**
 * @file Runs one text-generation model in the tab for many conversations: puts requests in order, limits their time, and
 * replaces a worker that dies.
 */
import type { Generated, Generation, Outcome } from '../local/api.ts';
import type { LocalErrorKind } from '../local/local-error.ts';
import { type ModelWorker, spawnModelWorker } from '../local/spawn.ts';
import type { LocalConfig } from '../records/user.ts';
import { Limiter } from './limiter.ts';
import { UserError } from './types.ts';
import { serverWaits } from './waits.ts';

const KINDS: Record<LocalErrorKind, UserError['kind']> = {
  files: 'bad_response',
  network: 'network',
  memory: 'server',
  device: 'server',
  length: 'bad_response',
  cancelled: 'aborted',
};

/** The time limit of a message in milliseconds. It does not count the time to load the model or to wait for other conversations. */
const TIMEOUT_MS = 120_000;
/**
 * How long, in milliseconds, the model may take to stop a generation that was ended. With a large model, one token takes
 * seconds on a CPU.
 */
const GRACE_MS = 20_000;
/** After this many milliseconds without a request, the model is removed from memory. */
const IDLE_MS = 300_000;

const cancelled = () => new UserError('the conversation with the model in the tab was cancelled', 'aborted');
const inMegabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

export class LocalHost {
  /** The model writes one message at a time. Each conversation waits for at most one message, so the conversations take turns. */
  readonly #turns = new Limiter(1);
  /** The number of requests that wait or run. */
  #asked = 0;
  #worker: ModelWorker | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** @param config which model runs on which device */
  constructor(
    private readonly config: LocalConfig,
    private readonly spawn: () => ModelWorker = spawnModelWorker,
    private readonly graceMs = GRACE_MS,
  ) {}

  /** Whether the model is in memory, and no request needs it. */
  get isIdle(): boolean {
    return this.#worker !== null && this.#asked === 0;
  }

  /** Loads the model, if it is not loaded yet. @throws UserError */
  load(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      await this.#loaded(signal);
    }, signal);
  }

  /** @throws UserError; after the worker has died, the next call starts another one */
  generate(request: Generation, signal?: AbortSignal, timeoutMs = TIMEOUT_MS): Promise<Generated> {
    return this.#inTurn(async () => {
      const worker = await this.#loaded(signal);
      return serverWaits.during(`${this.config.model} writes a message`, () => this.#generate(worker, request, signal, timeoutMs));
    }, signal);
  }

  /** Removes the model from memory. */
  discard(): void {
    this.#worker?.terminate();
    this.#worker = null;
  }

  async #inTurn<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const turn = async () => {
      clearTimeout(this.#idle);
      try {
        return await work();
      } finally {
        this.#idle = setTimeout(() => this.discard(), IDLE_MS);
      }
    };
    this.#asked += 1;
    try {
      return await this.#turns.run(turn, signal);
    } catch (error) {
      throw signal?.aborted ? cancelled() : error;
    } finally {
      this.#asked -= 1;
    }
  }

  async #loaded(signal: AbortSignal | undefined): Promise<ModelWorker> {
    if (this.#worker) return this.#worker;
    const worker = (this.#worker = this.spawn());
    const { model } = this.config;
    let leave = () => {};
    const left = new Promise<never>((_, reject) => (leave = () => reject(cancelled())));
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await serverWaits.during(`loading ${model}`, (activity) => {
        const onDownload = (loaded: number, total: number) =>
          activity.now(`downloading ${model}: ${inMegabytes(loaded)} of ${inMegabytes(total)} MB`);
        return this.#answer(worker, Promise.race([worker.model.load(this.config, onDownload), left]));
      });
    } catch (error) {
      this.discard();
      throw error;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
    return worker;
  }

  async #generate(worker: ModelWorker, request: Generation, signal: AbortSignal | undefined, timeoutMs: number): Promise<Generated> {
    let isLate = false;
    let hangs!: (error: UserError) => void;
    const hung = new Promise<never>((_, reject) => (hangs = reject));
    let grace: ReturnType<typeof setTimeout> | undefined;
    const late = () => new UserError(`the model "${this.config.model}" in the tab gave no answer within ${timeoutMs} ms`, 'timeout');
    const end = () => {
      void worker.model.stop();
      grace ??= setTimeout(() => {
        this.discard();
        hangs(late());
      }, this.graceMs);
    };
    const limit = setTimeout(() => {
      isLate = true;
      end();
    }, timeoutMs);
    signal?.addEventListener('abort', end, { once: true });
    try {
      return await this.#answer(worker, Promise.race([worker.model.generate(request), hung]));
    } catch (error) {
      throw isLate && !signal?.aborted ? late() : error;
    } finally {
      clearTimeout(limit);
      clearTimeout(grace);
      signal?.removeEventListener('abort', end);
    }
  }

  async #answer<T>(worker: ModelWorker, outcome: Promise<Outcome<T>>): Promise<T> {
    let answer: Outcome<T>;
    try {
      answer = await Promise.race([outcome, worker.death]);
    } catch (error) {
      this.discard();
      if (error instanceof UserError) throw error;
      throw new UserError(
        `the worker of the model "${this.config.model}" failed (${(error as Error).message}): expected its next message`,
        'server',
      );
    }
    if ('value' in answer) return answer.value;
    const { kind, message, isFatal } = answer.failure;
    if (isFatal) this.discard();
    throw new UserError(message, KINDS[kind]);
  }
}
