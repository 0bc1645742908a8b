// @ts-check
/**
 * The folder of `mua train` and `mua sft`, and of each run of `mua experiment`. All finished steps are in it at any time, and
 * `status.json` says how far the run is. Each state of `status.json` is complete: a file that it names was written before.
 */
import { appendFile, copyFile, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CommandError, UsageError } from './errors.mjs';
import { readJson, reason, RUN_FILE, writeAll } from './files.mjs';
import { appendLines, checkOut, fileSha256, sha256, statusToResume, writeStatus } from './out-folder.mjs';

/** What a step adds lines to. */
const LOGS = /** @type {const} */ (['metrics.jsonl', 'trajectories.jsonl', 'evaluations.jsonl']);
/** Steps after the last checkpoint of a run that was stopped. */
const SUPERSEDED = 'superseded';
const CHECKPOINT = /^checkpoint-(\d+)\.safetensors$/;
const CHECKPOINTS_KEPT = 2;
const WEIGHTS = /\.safetensors(\.index\.json)?$/;

/** @typedef {import('./out-folder.mjs').Status} Status */
/** @typedef {import('./out-folder.mjs').SavedCheckpoint} SavedCheckpoint */
/** @typedef {Omit<import('../trainer/messages.ts').Interrupted, 'checkpoint'>} Logs */

/** The page may only write plain file names into a folder. @param {string} name */
function safeName(name) {
  if (basename(name) !== name || name.startsWith('.')) throw new Error(`file name "${name}" is not a plain name`);
  return name;
}

export class RunFolder {
  /** What the run starts from; for a run that goes on, the files beside its checkpoint. */
  model;
  #status;
  #created;
  #closed = false;
  /** @type {Promise<void>} */
  #written = Promise.resolve();

  /**
   * @param {string} directory
   * @param {Status} status
   * @param {{ logs: Logs, checkpoint: string } | null} interrupted where the run goes on, with the path of its checkpoint
   * @param {{ paths: Record<string, string> }} model
   * @param {boolean} created
   */
  constructor(directory, status, interrupted, model, created) {
    this.directory = directory;
    this.model = model;
    this.interrupted = interrupted;
    this.#status = status;
    this.#created = created;
  }

  /**
   * A folder for a new run. It is created when the run has its first result, so a wrong setting leaves no folder.
   * @param {string} directory
   * @param {object} run
   * @param {string} run.command
   * @param {Record<string, any>} run.settings
   * @param {import('./files.mjs').ModelFolder} run.model its files without the weights are copied
   * @param {boolean} [run.force] replace the files of an earlier run
   * @throws {UsageError} if the folder is not empty
   */
  static async create(directory, { command, settings, model, force = false }) {
    await checkOut(directory, force);
    const names = Object.keys(model.paths);
    const files = names.filter((name) => !WEIGHTS.test(name));
    /** @type {Status['weights']} */
    const weights = {};
    for (const name of names)
      if (WEIGHTS.test(name) && name !== 'adapter_model.safetensors')
        weights[name] = { path: resolve(model.paths[name] ?? ''), sha256: await fileSha256(model.paths[name] ?? '') };
    /** @type {Status} */
    const status = { command, state: 'running', pid: process.pid, step: 0, settings, files, weights, checkpoints: [] };
    return new RunFolder(directory, status, null, model, false);
  }

  /**
   * The folder of a run that was stopped. Steps after its last good checkpoint move to `superseded-*.jsonl`.
   * @param {string} directory
   * @param {{ flag: string, command: string, note: (message: string) => void }} options
   * @throws {UsageError} if the run can't go on
   */
  static async resume(directory, { flag, command, note }) {
    const status = await statusToResume(directory, { flag, command });
    for (const checkpoint of status.checkpoints) {
      const bytes = await readFile(join(directory, checkpoint.file)).catch(() => null);
      if (bytes && sha256(bytes) === checkpoint.sha256) {
        await supersede(directory, checkpoint);
        const interrupted = { logs: await readLogs(directory), checkpoint: join(directory, checkpoint.file) };
        const checkpoints = status.checkpoints.slice(status.checkpoints.indexOf(checkpoint));
        const model = { paths: { ...(await firstWeights(status, note)), ...pathsIn(directory, status.files) } };
        const folder = new RunFolder(directory, { ...status, checkpoints, message: undefined }, interrupted, model, true);
        await folder.#setStatus({ state: 'running', pid: process.pid, step: checkpoint.step });
        return folder;
      }
      note(`mua: ${join(directory, checkpoint.file)} is ${bytes ? 'damaged' : 'missing'}: going on from an earlier checkpoint`);
    }
    throw new UsageError(`${flag} is "${directory}": it has no checkpoint that is whole: start the run again with --out and --force`);
  }

  get done() {
    return this.#status.state === 'done';
  }

  /** What the page gets of the run beside its settings. */
  get order() {
    return { model: Object.keys(this.model.paths), base: this.settings.model, interrupted: this.interrupted !== null };
  }

  /** What the run was started with. */
  get settings() {
    return this.#status.settings;
  }

  /**
   * Keeps what the page sends: `step`, `evaluation`, `checkpoint-N.safetensors`, files of the model, and `finished` at last.
   * @param {string} name
   * @param {Buffer} body
   */
  receive(name, body) {
    if (this.#closed) return this.#written;
    const written = this.#written.then(async () => {
      try {
        await this.#keep(name, body);
      } catch (error) {
        throw new CommandError(`could not write to ${this.directory}: ${reason(error)}`);
      }
    });
    this.#written = written.catch(() => {});
    return written;
  }

  /**
   * Ends the run before its last step. Returns once all is written. A second call does nothing.
   * @param {'interrupted' | 'failed'} state
   * @param {string} [message]
   */
  async stop(state, message) {
    if (this.#closed) return this.#written;
    this.#closed = true;
    await this.#written;
    if (this.#created) await this.#setStatus({ state, ...(message !== undefined && { message }) }).catch(() => {});
  }

  /** How to go on, if the run has a checkpoint. */
  get continuation() {
    const { command, step, checkpoints } = this.#status;
    if (checkpoints.length === 0) return null;
    return `${this.directory} holds the results up to step ${step}. Go on with: mua ${command} --resume ${this.directory}`;
  }

  /** The result of a run that is done. @returns {Promise<any>} */
  async result() {
    return { out: this.directory, ...(await readJson(join(this.directory, 'result.json'))) };
  }

  /** The metrics of all steps, and the evaluations. */
  logs() {
    return readLogs(this.directory);
  }

  /** @param {string} name @param {Buffer} body */
  async #keep(name, body) {
    if (!this.#created) await this.#fill();
    const place = join(this.directory, safeName(name));
    if (name === 'step') await this.#addStep(body.toString('utf8'));
    else if (name === 'evaluation') await appendLines(join(this.directory, 'evaluations.jsonl'), `${body.toString('utf8')}\n`);
    else if (CHECKPOINT.test(name)) await this.#addCheckpoint(name, body);
    else if (name === 'finished') await this.#finish(body);
    else await writeAll({ [place]: body });
  }

  /** Makes the folder of a new run and copies the model's files. */
  async #fill() {
    const { directory } = this;
    await mkdir(directory, { recursive: true });
    this.#created = true;
    for (const name of await readdir(directory)) if (isResult(name)) await rm(join(directory, name));
    for (const name of LOGS) await writeFile(join(directory, name), '');
    for (const name of this.#status.files) await copyFile(this.model.paths[name] ?? '', join(directory, name));
  }

  /** @param {string} text a line of metrics, then the lines of the step's conversations */
  async #addStep(text) {
    const end = text.indexOf('\n');
    if (end >= 0) await appendLines(join(this.directory, 'trajectories.jsonl'), `${text.slice(end + 1)}\n`);
    const metrics = end < 0 ? text : text.slice(0, end);
    await appendLines(join(this.directory, 'metrics.jsonl'), `${metrics}\n`);
    await this.#setStatus({ step: JSON.parse(metrics).step });
  }

  /** @param {string} file @param {Buffer} body */
  async #addCheckpoint(file, body) {
    await writeAll({ [join(this.directory, file)]: body });
    const bytes = Object.fromEntries(await Promise.all(LOGS.map(async (log) => [log, (await stat(join(this.directory, log))).size])));
    const added = { step: Number(CHECKPOINT.exec(file)?.[1]), file, sha256: sha256(body), bytes };
    const all = [added, ...this.#status.checkpoints.filter((checkpoint) => checkpoint.file !== file)];
    await this.#setStatus({ checkpoints: all.slice(0, CHECKPOINTS_KEPT) });
    for (const old of all.slice(CHECKPOINTS_KEPT)) await rm(join(this.directory, old.file), { force: true });
  }

  /** @param {Buffer} result */
  async #finish(result) {
    await writeAll({ [join(this.directory, 'result.json')]: `${result.toString('utf8')}\n` });
    const old = this.#status.checkpoints;
    /** @type {Record<string, string>} */
    const hashes = {};
    for (const name of await readdir(this.directory))
      if (LOGS.some((log) => log === name) || WEIGHTS.test(name)) hashes[name] = await fileSha256(join(this.directory, name));
    await this.#setStatus({ state: 'done', checkpoints: [], sha256: hashes });
    for (const { file } of old) await rm(join(this.directory, file), { force: true });
    this.#closed = true;
  }

  /** @param {Partial<Status>} change */
  async #setStatus(change) {
    this.#status = { ...this.#status, ...change };
    await writeStatus(this.directory, this.#status);
  }
}

const pathsIn = (/** @type {string} */ directory, /** @type {string[]} */ names) =>
  Object.fromEntries(names.map((name) => [name, join(directory, name)]));

/**
 * The weights that the run began with, if they are still there. A run that trains adapters needs them; a checkpoint of all weights
 * stands in their place.
 * @param {Status} status
 * @param {(message: string) => void} note
 */
async function firstWeights({ weights = {} }, note) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [name, { path, sha256: expected }] of Object.entries(weights)) {
    if ((await fileSha256(path).catch(() => '')) === expected) found[name] = path;
    else note(`mua: ${path} is missing, or is not the file that the run began with: a run that trains an adapter cannot go on`);
  }
  return found;
}

/** @param {string} directory @returns {Promise<Logs>} */
async function readLogs(directory) {
  const lines = async (/** @type {string} */ name) => {
    const path = join(directory, name);
    const text = await readFile(path, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line, i) => {
        try {
          return JSON.parse(line);
        } catch {
          throw new UsageError(`${path}: line ${i + 1} is not JSON`);
        }
      });
  };
  return { metrics: await lines('metrics.jsonl'), evaluations: await lines('evaluations.jsonl') };
}

/**
 * Moves what the logs hold beyond the checkpoint to `superseded-*.jsonl`: the run repeats these steps.
 * @param {string} directory
 * @param {SavedCheckpoint} checkpoint
 */
async function supersede(directory, { bytes }) {
  for (const name of LOGS) {
    const path = join(directory, name);
    const kept = bytes[name] ?? 0;
    const { size } = await stat(path);
    if (size < kept) throw new UsageError(`${path} has ${size} bytes: expected at least the ${kept} of the checkpoint`);
    if (size === kept) continue;
    const tail = Buffer.alloc(size - kept);
    const file = await open(path);
    try {
      await file.read(tail, 0, tail.length, kept);
    } finally {
      await file.close();
    }
    // A line that a kill cut off is no result.
    await appendFile(join(directory, `${SUPERSEDED}-${name}`), tail.subarray(0, tail.lastIndexOf(10) + 1));
    await truncate(path, kept);
  }
}

/** Files of an earlier run, which a new run replaces. @param {string} name */
const isResult = (name) =>
  /** @type {readonly string[]} */ (LOGS).includes(name) || RUN_FILE.test(name) || name.startsWith(`${SUPERSEDED}-`) || WEIGHTS.test(name);
