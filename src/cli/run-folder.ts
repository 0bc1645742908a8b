/**
 * @file The folder of `mua train` and `mua sft`, and of each run of `mua experiment`. It always contains all finished steps,
 * and `status.json` says how far the run is. A file is always written before `status.json` names it.
 */
import { appendFile, copyFile, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CommandError, UsageError } from './errors.ts';
import type { Interrupted } from '../trainer/messages.ts';
import type { BrowserUser, UserConfig } from '../records/user.ts';
import { isGguf } from '../exchange/model-folder.ts';
import { type ModelFolder, onDisk, readJson, reason, RUN_FILE, writeAll } from './files.ts';
import { appendLines, checkOut, fileSha256, type SavedCheckpoint, sha256, type Status, statusToResume, writeStatus } from './out-folder.ts';
import type { RunOrder } from './work.ts';

/** The logs to which a step adds lines. */
const LOGS = ['metrics.jsonl', 'trajectories.jsonl', 'evaluations.jsonl'] as const;
/** Prefix of the files with the steps after the last checkpoint of a run that was stopped. */
const SUPERSEDED = 'superseded';
const CHECKPOINT = /^checkpoint-(\d+)\.safetensors$/;
const CHECKPOINTS_KEPT = 2;
const WEIGHTS = /\.safetensors(\.index\.json)?$/;

type Logs = Omit<Interrupted, 'checkpoint'>;

/** The settings with which `mua train` was started. */
export interface TrainSettings {
  preset: string;
  algorithm: string;
  overrides: Record<string, string>;
  /** The name or path of the model. */
  model: string;
  /** The adapter that the run continues to train, if an experiment names one. */
  lora?: string;
  user: UserConfig;
  val_user?: BrowserUser;
}

/** The settings with which `mua sft` was started. */
export interface SftSettings {
  overrides: Record<string, string>;
  model: string;
  data: string;
  data_sha256: string;
}

/** Checks a file name from the work. Only plain names are allowed, so that nothing is written outside the folder. */
function safeName(name: string): string {
  if (basename(name) !== name || name.startsWith('.')) throw new Error(`file name "${name}" is not a plain name`);
  return name;
}

export class RunFolder<Settings extends object> {
  #status: Status<Settings>;
  #created: boolean;
  #closed = false;
  #written: Promise<void> = Promise.resolve();

  /**
   * @param interrupted the logs, and the path of the checkpoint from which the run continues; null for a new run
   * @param model the files from which the run starts; for a resumed run, the files in addition to its checkpoint
   */
  constructor(
    readonly directory: string,
    status: Status<Settings>,
    readonly interrupted: { logs: Logs; checkpoint: string } | null,
    readonly model: Pick<ModelFolder, 'files'>,
    created: boolean,
  ) {
    this.#status = status;
    this.#created = created;
  }

  /**
   * Prepares a folder for a new run. It is created when the run has its first result, so a wrong setting leaves no folder.
   * @param run.model the model, whose files are copied, except for the weights
   * @param run.force replace the files of an earlier run
   * @throws UsageError if the folder is not empty
   */
  static async create<Settings extends object>(
    directory: string,
    { command, settings, model, force = false }: { command: string; settings: Settings; model: ModelFolder; force?: boolean | undefined },
  ): Promise<RunFolder<Settings>> {
    await checkOut(directory, force);
    const names = Object.keys(model.files);
    const isWeights = (name: string) => WEIGHTS.test(name) || isGguf(name);
    const files = names.filter((name) => !isWeights(name));
    const weights: NonNullable<Status['weights']> = {};
    for (const [name, offer] of Object.entries(model.files))
      if (isWeights(name) && name !== 'adapter_model.safetensors' && 'file' in offer)
        weights[name] = { path: resolve(offer.file), sha256: await fileSha256(offer.file) };
    const status: Status<Settings> = { command, state: 'running', pid: process.pid, step: 0, settings, files, weights, checkpoints: [] };
    return new RunFolder(directory, status, null, model, false);
  }

  /**
   * Opens the folder of a run that was stopped. Steps after its last undamaged checkpoint move to `superseded-*.jsonl`.
   * @throws UsageError if the run can't be continued
   */
  static async resume<Settings extends object>(
    directory: string,
    { flag, command, note }: { flag: string; command: string; note: (message: string) => void },
  ): Promise<RunFolder<Settings>> {
    const status = await statusToResume<Settings>(directory, { flag, command });
    for (const checkpoint of status.checkpoints) {
      const bytes = await readFile(join(directory, checkpoint.file)).catch(() => null);
      if (bytes && sha256(bytes) === checkpoint.sha256) {
        await supersede(directory, checkpoint);
        const interrupted = { logs: await readLogs(directory), checkpoint: join(directory, checkpoint.file) };
        const checkpoints = status.checkpoints.slice(status.checkpoints.indexOf(checkpoint));
        const model = { files: { ...(await firstWeights(status, note)), ...onDisk(directory, status.files) } };
        const folder = new RunFolder(directory, { ...status, checkpoints, message: undefined }, interrupted, model, true);
        await folder.#setStatus({ state: 'running', pid: process.pid, step: checkpoint.step });
        return folder;
      }
      note(`mua: ${join(directory, checkpoint.file)} is ${bytes ? 'damaged' : 'missing'}: continuing from an earlier checkpoint`);
    }
    throw new UsageError(`${flag} is "${directory}": it has no undamaged checkpoint: start the run again with --out and --force`);
  }

  get done(): boolean {
    return this.#status.state === 'done';
  }

  /** What the work needs to know about the run, in addition to its settings. */
  get order(): RunOrder {
    const { model: base } = this.settings as { model?: string };
    return { model: Object.keys(this.model.files), ...(base !== undefined && { base }), interrupted: this.interrupted !== null };
  }

  /** The settings with which the run was started. */
  get settings(): Settings {
    return this.#status.settings;
  }

  /** Stores what the work sends: `step`, `evaluation`, `checkpoint-N.safetensors`, files of the model, and finally `finished`. */
  receive(name: string, body: Buffer): Promise<void> {
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

  /** Ends the run before its last step. Resolves when everything is written. Further calls do nothing. */
  async stop(state: 'interrupted' | 'failed', message?: string): Promise<void> {
    if (this.#closed) return this.#written;
    this.#closed = true;
    await this.#written;
    if (this.#created) await this.#setStatus({ state, ...(message !== undefined && { message }) }).catch(() => {});
  }

  /** A message that says how to continue. Null if the run has no checkpoint. */
  get continuation(): string | null {
    const { command, step, checkpoints } = this.#status;
    if (checkpoints.length === 0) return null;
    return `${this.directory} has the results up to step ${step}. To continue: ./mua ${command} --resume ${this.directory}`;
  }

  /** The result that the work returned when the run was done. */
  async result<Result extends object>(): Promise<Result & { out: string }> {
    const result = (await readJson(join(this.directory, 'result.json'))) as Result;
    return { ...result, out: this.directory };
  }

  /** The metrics of all steps, and the evaluations. */
  logs(): Promise<Logs> {
    return readLogs(this.directory);
  }

  async #keep(name: string, body: Buffer): Promise<void> {
    if (!this.#created) await this.#fill();
    const place = join(this.directory, safeName(name));
    if (name === 'step') await this.#addStep(body.toString('utf8'));
    else if (name === 'evaluation') await appendLines(join(this.directory, 'evaluations.jsonl'), `${body.toString('utf8')}\n`);
    else if (CHECKPOINT.test(name)) await this.#addCheckpoint(name, body);
    else if (name === 'finished') await this.#finish(body);
    else await writeAll({ [place]: body });
  }

  /** Makes the folder of a new run and copies the model's files. */
  async #fill(): Promise<void> {
    const { directory } = this;
    await mkdir(directory, { recursive: true });
    this.#created = true;
    for (const name of await readdir(directory)) if (isResult(name)) await rm(join(directory, name));
    for (const name of LOGS) await writeFile(join(directory, name), '');
    for (const name of this.#status.files) {
      const offer = this.model.files[name]!;
      await ('file' in offer ? copyFile(offer.file, join(directory, name)) : writeFile(join(directory, name), offer.data));
    }
  }

  /** @param text one line of metrics, followed by the lines of the step's conversations */
  async #addStep(text: string): Promise<void> {
    const end = text.indexOf('\n');
    if (end >= 0) await appendLines(join(this.directory, 'trajectories.jsonl'), `${text.slice(end + 1)}\n`);
    const metrics = end < 0 ? text : text.slice(0, end);
    await appendLines(join(this.directory, 'metrics.jsonl'), `${metrics}\n`);
    await this.#setStatus({ step: (JSON.parse(metrics) as { step: number }).step });
  }

  async #addCheckpoint(file: string, body: Buffer): Promise<void> {
    await writeAll({ [join(this.directory, file)]: body });
    const bytes = Object.fromEntries(await Promise.all(LOGS.map(async (log) => [log, (await stat(join(this.directory, log))).size])));
    const added = { step: Number(CHECKPOINT.exec(file)?.[1]), file, sha256: sha256(body), bytes };
    const all = [added, ...this.#status.checkpoints.filter((checkpoint) => checkpoint.file !== file)];
    await this.#setStatus({ checkpoints: all.slice(0, CHECKPOINTS_KEPT) });
    for (const old of all.slice(CHECKPOINTS_KEPT)) await rm(join(this.directory, old.file), { force: true });
  }

  async #finish(result: Buffer): Promise<void> {
    await writeAll({ [join(this.directory, 'result.json')]: `${result.toString('utf8')}\n` });
    const old = this.#status.checkpoints;
    const hashes: Record<string, string> = {};
    for (const name of await readdir(this.directory))
      if (LOGS.some((log) => log === name) || WEIGHTS.test(name)) hashes[name] = await fileSha256(join(this.directory, name));
    await this.#setStatus({ state: 'done', checkpoints: [], sha256: hashes });
    for (const { file } of old) await rm(join(this.directory, file), { force: true });
    this.#closed = true;
  }

  async #setStatus(change: Partial<Status<Settings>>): Promise<void> {
    this.#status = { ...this.#status, ...change };
    await writeStatus(this.directory, this.#status);
  }
}

/**
 * The weights with which the run began, as far as the files are unchanged. A run that trains adapters needs them. If all
 * weights are trained, the checkpoint replaces them.
 */
async function firstWeights({ weights = {} }: Status, note: (message: string) => void): Promise<ModelFolder['files']> {
  const found: ModelFolder['files'] = {};
  for (const [name, { path, sha256: expected }] of Object.entries(weights)) {
    if ((await fileSha256(path).catch(() => '')) === expected) found[name] = { file: path };
    else
      note(
        `mua: ${path} is missing, or is not the file with which the run began: without it, a run that trains an adapter cannot continue`,
      );
  }
  return found;
}

async function readLogs(directory: string): Promise<Logs> {
  const lines = async <Line>(name: string): Promise<Line[]> => {
    const path = join(directory, name);
    const text = await readFile(path, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line, i) => {
        try {
          return JSON.parse(line) as Line;
        } catch {
          throw new UsageError(`${path}: line ${i + 1} is not JSON`);
        }
      });
  };
  return { metrics: await lines('metrics.jsonl'), evaluations: await lines('evaluations.jsonl') };
}

/** Moves the lines after the checkpoint from the logs to `superseded-*.jsonl`, because the run repeats these steps. */
async function supersede(directory: string, { bytes }: SavedCheckpoint): Promise<void> {
  for (const name of LOGS) {
    const path = join(directory, name);
    const kept = bytes[name] ?? 0;
    const { size } = await stat(path);
    if (size < kept) throw new UsageError(`${path} has ${size} bytes: expected at least ${kept}, its size at the last checkpoint`);
    if (size === kept) continue;
    const tail = Buffer.alloc(size - kept);
    const file = await open(path);
    try {
      await file.read(tail, 0, tail.length, kept);
    } finally {
      await file.close();
    }
    // Copy only whole lines. A killed process may have left an incomplete last line.
    await appendFile(join(directory, `${SUPERSEDED}-${name}`), tail.subarray(0, tail.lastIndexOf(10) + 1));
    await truncate(path, kept);
  }
}

/** Whether a file belongs to an earlier run, so that a new run deletes it. */
const isResult = (name: string) =>
  (LOGS as readonly string[]).includes(name) || RUN_FILE.test(name) || name.startsWith(`${SUPERSEDED}-`) || WEIGHTS.test(name);
