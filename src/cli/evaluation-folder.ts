/**
 * @file The folder of `mua evaluate --out`. Every trial that has ended is in `trajectories-N.jsonl` for the Nth customer. When
 * the evaluation is resumed, a trial without a score is played again, and its line moves to `superseded-trajectories-N.jsonl`.
 */
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError, UsageError } from './errors.ts';
import { reason, writeAll } from './files.ts';
import { appendLines, checkOut, fileSha256, type Status, statusToResume, writeStatus } from './out-folder.ts';

const RESULT = 'result.json';
const LOG = /^(superseded-)?trajectories-\d+\.jsonl$/;
const logOf = (customer: number) => `trajectories-${customer + 1}.jsonl`;

export class EvaluationFolder<Settings extends { customers: number }> {
  #status: Status<Settings>;
  #created: boolean;
  #closed = false;
  #written: Promise<void> = Promise.resolve();

  private constructor(
    readonly directory: string,
    status: Status<Settings>,
    created: boolean,
  ) {
    this.#status = status;
    this.#created = created;
  }

  /**
   * Prepares a folder for a new evaluation. It is created when the first trial ends, so a wrong setting leaves no folder.
   * @param force replace the files of an earlier evaluation
   * @throws {UsageError} if the folder is not empty
   */
  static async create<Settings extends { customers: number }>(
    directory: string,
    settings: Settings,
    force = false,
  ): Promise<EvaluationFolder<Settings>> {
    await checkOut(directory, force);
    const status: Status<Settings> = {
      command: 'evaluate',
      state: 'running',
      pid: process.pid,
      step: 0,
      settings,
      files: [],
      checkpoints: [],
    };
    return new EvaluationFolder(directory, status, false);
  }

  /**
   * Opens the folder of an evaluation that was stopped. Incomplete lines and trials without a score are removed from its logs.
   * @param check throws if the evaluation cannot be continued with these settings
   * @throws {UsageError} if the evaluation can't be continued
   */
  static async resume<Settings extends { customers: number }>(
    directory: string,
    check: (settings: Settings) => Promise<void>,
  ): Promise<EvaluationFolder<Settings>> {
    const status = await statusToResume<Settings>(directory, { flag: '--resume', command: 'evaluate' });
    await check(status.settings);
    const folder = new EvaluationFolder(directory, { ...status, message: undefined }, true);
    for (let i = 0; i < status.settings.customers; i++) await keepScored(join(directory, logOf(i)));
    await folder.#setStatus({ state: 'running', pid: process.pid });
    return folder;
  }

  get settings(): Settings {
    return this.#status.settings;
  }

  /** The path of the file with the finished trials of a customer. */
  log(customer: number): string {
    return resolve(this.directory, logOf(customer));
  }

  receive(customer: number, trajectory: Buffer): Promise<void> {
    if (this.#closed) return this.#written;
    const written = this.#written.then(async () => {
      try {
        if (!this.#created) await this.#fill();
        await appendLines(this.log(customer), `${trajectory.toString('utf8')}\n`);
      } catch (error) {
        throw new CommandError(`could not write to ${this.directory}: ${reason(error)}`);
      }
    });
    this.#written = written.catch(() => {});
    return written;
  }

  async finish(result: object): Promise<void> {
    await this.#written;
    if (!this.#created) await this.#fill();
    await writeAll({ [join(this.directory, RESULT)]: `${JSON.stringify(result)}\n` });
    const hashes: Record<string, string> = {};
    for (const name of await readdir(this.directory)) if (LOG.test(name)) hashes[name] = await fileSha256(join(this.directory, name));
    await this.#setStatus({ state: 'done', sha256: hashes });
    this.#closed = true;
  }

  /** Ends the evaluation before its last trial. Further calls do nothing. */
  async stop(state: 'interrupted' | 'failed', message?: string): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#written;
    if (this.#created) await this.#setStatus({ state, ...(message !== undefined && { message }) }).catch(() => {});
  }

  /** A message that says how to continue. Null if no trial has ended. */
  get continuation(): string | null {
    if (!this.#created) return null;
    return `${this.directory} has the trials that have ended. To continue: ./mua evaluate --resume ${this.directory}`;
  }

  /** Makes the folder of a new evaluation, with an empty log for each customer. */
  async #fill(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    this.#created = true;
    for (const name of await readdir(this.directory)) if (name === RESULT || LOG.test(name)) await rm(join(this.directory, name));
    for (let i = 0; i < this.#status.settings.customers; i++) await writeFile(this.log(i), '');
    await this.#setStatus({});
  }

  async #setStatus(change: Partial<Status<Settings>>): Promise<void> {
    this.#status = { ...this.#status, ...change };
    await writeStatus(this.directory, this.#status);
  }
}

/** Keeps only the trials with a score in a log. @throws {UsageError} if a line before the last is damaged */
async function keepScored(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new UsageError(`${path}: ${reason(error)}`);
  });
  // A process that was killed may have left an incomplete last line, which is ignored.
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
  const scored = lines.filter((line, i) => {
    try {
      return (JSON.parse(line) as { reward: unknown }).reward !== null;
    } catch {
      throw new UsageError(`${path}: line ${i + 1} is not JSON`);
    }
  });
  const whole = (some: string[]) => some.map((line) => `${line}\n`).join('');
  const unscored = lines.filter((line) => !scored.includes(line));
  if (unscored.length > 0) await appendFile(join(dirname(path), `superseded-${basename(path)}`), whole(unscored));
  await writeAll({ [path]: whole(scored) });
}
