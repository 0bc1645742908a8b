// @ts-check
/**
 * The folder of `mua evaluate --out`. Every trial that has ended is in `trajectories-N.jsonl` of the Nth customer. A trial that
 * was not scored is played again when the evaluation goes on, and moves to `superseded-trajectories-N.jsonl`.
 */
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError, UsageError } from './errors.mjs';
import { reason, writeAll } from './files.mjs';
import { appendLines, checkOut, fileSha256, statusToResume, writeStatus } from './out-folder.mjs';

/** @typedef {import('./out-folder.mjs').Status} Status */

const RESULT = 'result.json';
const LOG = /^(superseded-)?trajectories-\d+\.jsonl$/;
const logOf = (/** @type {number} */ customer) => `trajectories-${customer + 1}.jsonl`;

export class EvaluationFolder {
  #status;
  #created;
  #closed = false;
  /** @type {Promise<void>} */
  #written = Promise.resolve();

  /**
   * @param {string} directory
   * @param {Status} status
   * @param {boolean} created
   */
  constructor(directory, status, created) {
    this.directory = directory;
    this.#status = status;
    this.#created = created;
  }

  /**
   * A folder for a new evaluation. It is created when the first trial ends, so a wrong setting leaves no folder.
   * @param {string} directory
   * @param {{ customers: number } & Record<string, any>} settings
   * @param {boolean} [force] replace the files of an earlier evaluation
   * @throws {UsageError} if the folder is not empty
   */
  static async create(directory, settings, force = false) {
    await checkOut(directory, force);
    /** @type {Status} */
    const status = { command: 'evaluate', state: 'running', pid: process.pid, step: 0, settings, files: [], checkpoints: [] };
    return new EvaluationFolder(directory, status, false);
  }

  /**
   * The folder of an evaluation that was stopped. Half a line and trials without a score leave its logs.
   * @param {string} directory
   * @param {(settings: Record<string, any>) => Promise<void>} check throws if the evaluation cannot go on with these settings
   * @throws {UsageError} if the evaluation can't go on
   */
  static async resume(directory, check) {
    const status = await statusToResume(directory, { flag: '--resume', command: 'evaluate' });
    await check(status.settings);
    const folder = new EvaluationFolder(directory, { ...status, message: undefined }, true);
    for (let i = 0; i < status.settings.customers; i++) await keepScored(join(directory, logOf(i)));
    await folder.#setStatus({ state: 'running', pid: process.pid });
    return folder;
  }

  get settings() {
    return this.#status.settings;
  }

  /** The file of the finished trials with a customer. @param {number} customer */
  log(customer) {
    return resolve(this.directory, logOf(customer));
  }

  /** @param {number} customer @param {Buffer} trajectory */
  receive(customer, trajectory) {
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

  /** @param {object} result */
  async finish(result) {
    await this.#written;
    if (!this.#created) await this.#fill();
    await writeAll({ [join(this.directory, RESULT)]: `${JSON.stringify(result)}\n` });
    /** @type {Record<string, string>} */
    const hashes = {};
    for (const name of await readdir(this.directory)) if (LOG.test(name)) hashes[name] = await fileSha256(join(this.directory, name));
    await this.#setStatus({ state: 'done', sha256: hashes });
    this.#closed = true;
  }

  /**
   * Ends the evaluation before its last trial. A second call does nothing.
   * @param {'interrupted' | 'failed'} state
   * @param {string} [message]
   */
  async stop(state, message) {
    if (this.#closed) return;
    this.#closed = true;
    await this.#written;
    if (this.#created) await this.#setStatus({ state, ...(message !== undefined && { message }) }).catch(() => {});
  }

  /** How to go on, if a trial has ended. */
  get continuation() {
    if (!this.#created) return null;
    return `${this.directory} holds the trials up to here. Go on with: mua evaluate --resume ${this.directory}`;
  }

  /** Makes the folder of a new evaluation, with an empty log for each customer. */
  async #fill() {
    await mkdir(this.directory, { recursive: true });
    this.#created = true;
    for (const name of await readdir(this.directory)) if (name === RESULT || LOG.test(name)) await rm(join(this.directory, name));
    for (let i = 0; i < this.#status.settings.customers; i++) await writeFile(this.log(i), '');
    await this.#setStatus({});
  }

  /** @param {Partial<Status>} change */
  async #setStatus(change) {
    this.#status = { ...this.#status, ...change };
    await writeStatus(this.directory, this.#status);
  }
}

/** @param {string} path @throws {UsageError} if a line before the last is damaged */
async function keepScored(path) {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new UsageError(`${path}: ${reason(error)}`);
  });
  // A line that a kill cut off is no result.
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n').filter(Boolean); // prettier-ignore
  const scored = lines.filter((line, i) => {
    try {
      return JSON.parse(line).reward !== null;
    } catch {
      throw new UsageError(`${path}: line ${i + 1} is not JSON`);
    }
  });
  const whole = (/** @type {string[]} */ some) => some.map((line) => `${line}\n`).join('');
  const unscored = lines.filter((line) => !scored.includes(line));
  if (unscored.length > 0) await appendFile(join(dirname(path), `superseded-${basename(path)}`), whole(unscored));
  await writeAll({ [path]: whole(scored) });
}
