/** @file A folder of `--out`: the files that a command writes one after another, and the status that says how far the command is. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from './errors.ts';
import { reason, writeAll } from './files.ts';
import type { FolderLock } from './lock-file.ts';
import { removeEarlier, writeStatus } from './out-folder.ts';
import type { Status } from './status.ts';

/** How a folder was opened. */
export interface Opened {
  lock?: FolderLock;
  earlier?: readonly string[] | null;
  /** The first files of a new folder, with their texts, beside those of the subclass. */
  kept?: Readonly<Record<string, string>>;
}

export abstract class ResultsFolder<Settings extends object> {
  protected status: Status<Settings>;
  /** The files that the first result replaces. Null if the folder already has results of this command. */
  #earlier: readonly string[] | null;
  readonly #lock: FolderLock | undefined;
  readonly #kept: Readonly<Record<string, string>>;
  #closed = false;
  #written: Promise<void> = Promise.resolve();

  constructor(
    readonly directory: string,
    status: Status<Settings>,
    { lock, earlier = null, kept = {} }: Opened = {},
  ) {
    this.status = status;
    this.#lock = lock;
    this.#earlier = earlier;
    this.#kept = kept;
  }

  /** The settings with which the command was started. */
  get settings(): Settings {
    return this.status.settings;
  }

  /** Whether the folder has nothing of this command yet. */
  protected get isNew(): boolean {
    return this.#earlier !== null;
  }

  /** Writes when all earlier writes have ended. Does nothing after the end. @throws CommandError if the disk refuses */
  protected afterEarlier(write: () => Promise<void>): Promise<void> {
    if (this.#closed) return this.#written;
    const written = this.#written.then(async () => {
      try {
        await this.#fill();
        await write();
      } catch (error) {
        throw new CommandError(`could not write to ${this.directory}: ${reason(error)}`);
      }
    });
    this.#written = written.catch(() => {});
    return written;
  }

  /** Resolves when all earlier writes have ended and the folder is there. */
  protected async ready(): Promise<void> {
    await this.#written;
    await this.#fill();
  }

  /** Makes the first files of a new folder. */
  protected abstract firstFiles(): Promise<void>;

  async #fill(): Promise<void> {
    if (!this.#earlier) return;
    await mkdir(this.directory, { recursive: true });
    await removeEarlier(this.directory, this.#earlier);
    // The status names the files first, so that --force may delete them.
    await this.setStatus({});
    this.#earlier = null;
    await writeAll(Object.fromEntries(Object.entries(this.#kept).map(([name, text]) => [join(this.directory, name), text])));
    await this.firstFiles();
  }

  protected async setStatus(change: Partial<Status<Settings>>): Promise<void> {
    this.status = { ...this.status, ...change };
    await writeStatus(this.directory, this.status);
  }

  /** Ends the command before its last result. Resolves when everything is written. Further calls do nothing. */
  async stop(state: 'interrupted' | 'failed', message?: string): Promise<void> {
    if (this.#closed) return this.#written;
    this.#closed = true;
    await this.#written;
    if (!this.isNew) await this.setStatus({ state, ...(message !== undefined && { message }) }).catch(() => {});
    await this.#lock?.release();
  }

  /** Nothing more is written. */
  protected async close(): Promise<void> {
    this.#closed = true;
    await this.#lock?.release();
  }
}
