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

const KINDS: Record<LocalErrorKind, UserError['kind']> = {
  files: 'bad_response',
  network: 'network',
  memory: 'server',
  device: 'server',
  cancelled: 'aborted',
};

/**
 * How long, in milliseconds, the model may take to stop a generation that was ended. With a large model, one token takes
 * seconds on a CPU.
 */
const GRACE_MS = 20_000;
/** After this many milliseconds without a request, the model is removed from memory. */
const IDLE_MS = 300_000;

export class LocalHost {
  /** The model writes one message at a time. Each conversation waits for at most one message, so the conversations take turns. */
  readonly #turns = new Limiter(1);
  #worker: ModelWorker | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly config: LocalConfig,
    private readonly spawn: () => ModelWorker = spawnModelWorker,
    private readonly graceMs = GRACE_MS,
  ) {}

  /** Loads the model, if it is not loaded yet. @throws UserError */
  load(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      await this.#loaded();
    }, signal);
  }

  /** @throws UserError; after the worker has died, the next call starts another one */
  generate(request: Generation, signal?: AbortSignal): Promise<Generated> {
    return this.#inTurn(async () => this.#generate(await this.#loaded(), request, signal), signal);
  }

  async #inTurn<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const turn = async () => {
      clearTimeout(this.#idle);
      try {
        return await work();
      } finally {
        this.#idle = setTimeout(() => this.#discard(), IDLE_MS);
      }
    };
    try {
      return await this.#turns.run(turn, signal);
    } catch (error) {
      if (signal?.aborted) throw new UserError('the conversation with the customer was cancelled', 'aborted');
      throw error;
    }
  }

  async #loaded(): Promise<ModelWorker> {
    if (this.#worker) return this.#worker;
    const worker = (this.#worker = this.spawn());
    try {
      await this.#answer(worker, worker.model.load(this.config));
    } catch (error) {
      this.#discard();
      throw error;
    }
    return worker;
  }

  async #generate(worker: ModelWorker, request: Generation, signal: AbortSignal | undefined): Promise<Generated> {
    const { timeoutMs = 120_000 } = this.config;
    let isLate = false;
    let hangs!: (error: UserError) => void;
    const hung = new Promise<never>((_, reject) => (hangs = reject));
    let grace: ReturnType<typeof setTimeout> | undefined;
    const late = () => new UserError(`the customer’s model in the tab gave no answer within ${timeoutMs} ms`, 'timeout');
    const end = () => {
      void worker.model.stop();
      grace ??= setTimeout(() => {
        this.#discard();
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
      this.#discard();
      if (error instanceof UserError) throw error;
      throw new UserError(`the worker of the customer’s model failed (${(error as Error).message}): expected its next message`, 'server');
    }
    if ('value' in answer) return answer.value;
    const { kind, message, isFatal } = answer.failure;
    if (isFatal) this.#discard();
    throw new UserError(message, KINDS[kind]);
  }

  #discard(): void {
    this.#worker?.terminate();
    this.#worker = null;
  }
}
