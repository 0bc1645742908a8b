/**
 * @file The folder of `mua train` and `mua sft`, and of each run of `mua experiment`. It always contains all finished steps,
 * and `status.json` says how far the run is. A file is always written before `status.json` names it.
 */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from './errors.ts';
import { isGguf } from '../exchange/model-folder.ts';
import { type ModelFolder, onDisk, pathsOf, readJson, writeAll } from './files.ts';
import { appendLines, fileSha256, openOut, type OutOptions, openStopped, type SettingsSchema } from './out-folder.ts';
import { type Opened, ResultsFolder } from './results-folder.ts';
import { CHECKPOINT, filesOf, isResultFile, LOGS, type SavedCheckpoint, type Status } from './status.ts';
import { type Logs, readLogs, supersede } from './run-logs.ts';
import type { RunOrder } from './work.ts';

const CHECKPOINTS_KEPT = 2;
const WEIGHTS = /\.safetensors(\.index\.json)?$/;

export class RunFolder<Settings extends object> extends ResultsFolder<Settings> {
  /**
   * @param interrupted the logs, and the path of the checkpoint from which the run continues; null for a new run
   * @param model the files from which the run starts; for a resumed run, the files in addition to its checkpoint
   */
  constructor(
    directory: string,
    status: Status<Settings>,
    readonly interrupted: { logs: Logs; checkpoint: string } | null,
    readonly model: Pick<ModelFolder, 'files'>,
    opened: Opened = {},
  ) {
    super(directory, status, opened);
  }

  /**
   * Locks a folder for a new run. It is created when the run has its first result, so a wrong setting leaves no folder.
   * @param run.model the model, whose files are copied, except for the weights
   * @param run.kept further files, by name, with their texts
   * @param run.force replace the files of an earlier run
   * @param run.inputs other files that the run reads
   * @throws UsageError if the folder is in use or not empty
   */
  static async create<Settings extends object>(
    directory: string,
    { settings, model, kept = {}, inputs = [], ...out }: { settings: Settings; model: ModelFolder } & Pick<Opened, 'kept'> & OutOptions,
  ): Promise<RunFolder<Settings>> {
    const opened = await openOut(directory, { ...out, inputs: [...inputs, ...pathsOf(model)] });
    const isWeights = (name: string) => WEIGHTS.test(name) || isGguf(name);
    const files = Object.keys(model.files).filter((name) => !isWeights(name) && isResultFile(name));
    const weights: NonNullable<Status['weights']> = {};
    try {
      for (const [name, offer] of Object.entries(model.files))
        if (isWeights(name) && name !== 'adapter_model.safetensors' && 'file' in offer)
          weights[name] = { path: resolve(offer.file), sha256: await fileSha256(offer.file) };
    } catch (error) {
      await opened.lock.release();
      throw error;
    }
    const { command } = out;
    const written = Object.keys(kept);
    const status: Status<Settings> = { command, state: 'running', pid: process.pid, step: 0, settings, files, weights, checkpoints: [], written }; // prettier-ignore
    return new RunFolder(directory, status, null, model, { ...opened, kept });
  }

  /**
   * Locks the folder of a run that was stopped. Steps after its last undamaged checkpoint move to `superseded-*.jsonl`.
   * @param given.settings the schema of the run's settings
   * @param given.check throws if the run cannot be continued with these settings; nothing has changed yet
   * @throws UsageError if the run can't be continued; errors of `check`
   */
  static async resume<Settings extends object>(
    directory: string,
    {
      check,
      ...given
    }: {
      flag: string;
      command: string;
      note: (message: string) => void;
      settings?: SettingsSchema;
      check?: (settings: Settings) => Promise<void>;
    },
  ): Promise<RunFolder<Settings>> {
    const { flag, note } = given;
    const { status, lock } = await openStopped<Settings>(directory, given);
    try {
      await check?.(status.settings);
      for (const checkpoint of status.checkpoints) {
        const path = join(directory, checkpoint.file);
        const found = await fileSha256(path).catch(() => null);
        if (found === checkpoint.sha256) {
          const checkpoints = status.checkpoints.slice(status.checkpoints.indexOf(checkpoint));
          const model = { files: { ...(await firstWeights(status, note)), ...onDisk(directory, status.files) } };
          const interrupted = { logs: await readLogs(directory, checkpoint), checkpoint: path };
          await supersede(directory, checkpoint);
          const folder = new RunFolder(directory, { ...status, checkpoints, message: undefined }, interrupted, model, { lock });
          await folder.setStatus({ state: 'running', pid: process.pid, step: checkpoint.step });
          return folder;
        }
        note(`mua: ${path} is ${found === null ? 'missing' : 'damaged'}: continuing from an earlier checkpoint`);
      }
      throw new UsageError(`${flag} is "${directory}": it has no undamaged checkpoint: start the run again with --out and --force`);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  get done(): boolean {
    return this.status.state === 'done';
  }

  /** What the work needs to know about the run, in addition to its settings. */
  get order(): RunOrder {
    const { model: base } = this.settings as { model?: string };
    return { model: Object.keys(this.model.files), ...(base !== undefined && { base }), interrupted: this.interrupted !== null };
  }

  /** Stores what the work sends: `step`, `evaluation`, `checkpoint-N.safetensors`, files of the model, and finally `finished`. */
  receive(name: string, body: Buffer): Promise<void> {
    return this.afterEarlier(() => this.#keep(name, body));
  }

  /** A message that says how to continue. Null if the run has no checkpoint. */
  get continuation(): string | null {
    const { command, step, checkpoints } = this.status;
    if (checkpoints.length === 0) return null;
    const from = checkpoints[0]!.step;
    const again = from < step ? ` (from its checkpoint of step ${from})` : '';
    return `${this.directory} has the results up to step ${step}. To continue${again}: ./mua ${command} --resume ${this.directory}`;
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
    if (name === 'step') await this.#addStep(body.toString('utf8'));
    else if (name === 'evaluation') await appendLines(join(this.directory, 'evaluations.jsonl'), `${body.toString('utf8')}\n`);
    else if (name === 'finished') await this.#finish(body);
    else if (CHECKPOINT.test(name)) await this.#addCheckpoint(name, body);
    else await this.#writeFile(name, body);
  }

  /** Makes the logs and copies the model's files. */
  protected async firstFiles(): Promise<void> {
    const { directory } = this;
    for (const name of LOGS) await writeFile(join(directory, name), '');
    for (const name of this.status.files) {
      const offer = this.model.files[name]!;
      await writeAll({ [join(directory, name)]: 'file' in offer ? await readFile(offer.file) : offer.data });
    }
  }

  /** @param name must be a plain name, so that nothing is written outside the folder */
  async #writeFile(name: string, body: Buffer): Promise<void> {
    if (!isResultFile(name)) throw new Error(`file name "${name}" is not the name of a result`);
    const { written = [], files } = this.status;
    if (![...written, ...files].includes(name)) await this.setStatus({ written: [...written, name] });
    await writeAll({ [join(this.directory, name)]: body });
  }

  /** @param text one line of metrics, followed by the lines of the step's conversations */
  async #addStep(text: string): Promise<void> {
    const end = text.indexOf('\n');
    if (end >= 0) await appendLines(join(this.directory, 'trajectories.jsonl'), `${text.slice(end + 1)}\n`);
    const metrics = end < 0 ? text : text.slice(0, end);
    await appendLines(join(this.directory, 'metrics.jsonl'), `${metrics}\n`);
    await this.setStatus({ step: (JSON.parse(metrics) as { step: number }).step });
  }

  async #addCheckpoint(file: string, body: Buffer): Promise<void> {
    await this.#writeFile(file, body);
    const bytes = Object.fromEntries(await Promise.all(LOGS.map(async (log) => [log, (await stat(join(this.directory, log))).size])));
    // The file is read again, because a hash of more than 2 GiB in memory is impossible.
    const added = { step: Number(CHECKPOINT.exec(file)?.[1]), file, sha256: await fileSha256(join(this.directory, file)), bytes };
    const all = [added, ...this.status.checkpoints.filter((checkpoint) => checkpoint.file !== file)];
    await this.setStatus({ checkpoints: all.slice(0, CHECKPOINTS_KEPT) });
    await this.#removeCheckpoints(all.slice(CHECKPOINTS_KEPT));
  }

  async #finish(result: Buffer): Promise<void> {
    await writeAll({ [join(this.directory, 'result.json')]: `${result.toString('utf8')}\n` });
    const old = this.status.checkpoints;
    const weights = filesOf(this.status).filter((name) => WEIGHTS.test(name) && !CHECKPOINT.test(name));
    const hashes: Record<string, string> = {};
    for (const name of new Set([...LOGS, ...weights])) hashes[name] = await fileSha256(join(this.directory, name));
    await this.setStatus({ state: 'done', checkpoints: [], sha256: hashes });
    await this.#removeCheckpoints(old);
    await this.close();
  }

  async #removeCheckpoints(old: readonly SavedCheckpoint[]): Promise<void> {
    for (const { file } of old) await rm(join(this.directory, file), { force: true });
    const removed = old.map(({ file }) => file);
    this.status = { ...this.status, written: this.status.written?.filter((name) => !removed.includes(name)) };
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
