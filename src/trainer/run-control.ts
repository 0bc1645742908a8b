/** @file How a run is paused and ended, and who is asked when a run needs a decision. */
import { isStorageFull, storageError } from '../base/storage-error.ts';
import type { Environments } from '../environments/types.ts';
import type { ModelFiles } from '../records/model.ts';
import type { RunStatus } from '../records/run.ts';
import { ConfigError } from '../training/config.ts';
import type { MeteredUsers } from '../users/account.ts';

/** A run whose model is loaded, as a control sees it. */
export interface ReadyRun {
  /** Returns the model with its current weights. */
  model: () => Promise<ModelFiles>;
  /** Counts what a customer at an endpoint costs. */
  meter?: MeteredUsers;
}

export interface RunControl {
  /** Aborting it ends the run at once. The driver aborts it when the device is lost. */
  readonly abort: AbortController;
  /** Whether the run should end before its next step. */
  readonly stopping: boolean;
  /** Resolves when the run continues. Null while the run is not paused. */
  readonly paused: Promise<void> | null;
  ready(run: ReadyRun): void;
  /** Pauses with a question. Resolves when someone lets the run continue, or stops it. */
  ask(question: string): Promise<void>;
  /** Like `ask`, for a budget that is spent. @param reason a sentence without its full stop @throws if nobody can raise the budget */
  overBudget(reason: string): Promise<void>;
  /** Resolves when a failed write can be tried again. @param what the result that could not be stored @throws if nobody can help */
  failed(what: string, error: unknown): Promise<void>;
}

/**
 * The control of a run that a visitor watches. If a write fails, the run pauses and keeps the result in memory until the
 * visitor has made room.
 */
export class AttendedRun implements RunControl {
  readonly abort = new AbortController();
  stopping = false;
  paused: Promise<void> | null = null;
  run: ReadyRun | null = null;
  readonly #announce: (status: RunStatus, message?: string) => Promise<void>;
  #unpause = () => {};

  /** @param announce sends the status to the page and stores it */
  constructor(announce: (status: RunStatus, message?: string) => Promise<void>) {
    this.#announce = announce;
  }

  ready(run: ReadyRun): void {
    this.run = run;
  }

  async pause(message?: string): Promise<void> {
    if (this.paused || this.stopping) return;
    this.#hold();
    await this.#announce('paused', message);
  }

  async unpause(): Promise<void> {
    if (!this.paused) return;
    this.paused = null;
    await this.#announce('running');
    this.#unpause();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.unpause();
  }

  async ask(question: string): Promise<void> {
    await this.pause(question);
    await this.paused;
  }

  overBudget(reason: string): Promise<void> {
    return this.ask(`${reason}: raise the budget to go on.`);
  }

  async failed(what: string, error: unknown): Promise<void> {
    const { message } = storageError(error, what);
    if (this.stopping || this.abort.signal.aborted) throw new Error(message, { cause: error });
    if (!this.paused) this.#hold();
    await this.#announce('paused', `Paused, as ${what} is not stored: ${message}. Resume stores it.`);
    await this.paused;
  }

  #hold(): void {
    this.paused = new Promise((resolve) => (this.#unpause = resolve));
  }
}

/** The control of a run of the command line. Nobody answers questions, so the run ends with the reason. */
export class UnattendedRun implements RunControl {
  readonly abort = new AbortController();
  readonly stopping = false;
  readonly paused = null;

  ready(): void {}

  async ask(question: string): Promise<void> {
    throw new Error(question);
  }

  async overBudget(reason: string): Promise<void> {
    throw new ConfigError(`${reason}: raise --user-budget to go on`);
  }

  async failed(_: string, error: unknown): Promise<void> {
    throw error;
  }
}

/** Calls `work`. If it fails with an error for which `isExpected` is true, and the control can help, calls it again. */
export async function untilDone<T>(
  control: Pick<RunControl, 'failed'>,
  what: string,
  work: () => Promise<T>,
  isExpected: (error: unknown) => boolean = () => true,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isExpected(error)) throw error;
      await control.failed(what, error);
    }
  }
}

/**
 * The tool databases are in the browser's storage too. If the storage is full, the run pauses inside the call, and the call is
 * repeated. A failed call has written nothing.
 */
export function patient(control: Pick<RunControl, 'failed'>, environments: Environments): Environments {
  const patiently = <T>(call: () => Promise<T>) => untilDone(control, 'the tool database', call, isStorageFull);
  return {
    domain: (...query) => patiently(() => environments.domain(...query)),
    tasks: (...query) => patiently(() => environments.tasks(...query)),
    start: (...task) => patiently(() => environments.start(...task)),
    call: (...call) => patiently(() => environments.call(...call)),
    turn: (...turn) => patiently(async () => (await environments.turn?.(...turn)) ?? null),
    verify: (...episode) => patiently(() => environments.verify(...episode)),
    close: (...episode) => patiently(() => environments.close(...episode)),
  };
}
