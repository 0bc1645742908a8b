/**
 * @file The folder of `mua evaluate --out`, and of the parts that `mua robust` keeps until its card is written. Every trial that has ended is in `trajectories-N.jsonl` for the Nth customer. When
 * the evaluation is resumed, a trial without a score is played again, and its line moves to `superseded-trajectories-N.jsonl`.
 */
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Trajectory } from '../records/trajectory.ts';
import { UsageError } from './errors.ts';
import { readJson, reason, writeAll } from './files.ts';
import { appendLines, fileSha256, openOut, type OutOptions, openStopped, type SettingsSchema } from './out-folder.ts';
import { type Opened, ResultsFolder } from './results-folder.ts';
import { type Status, SUPERSEDED } from './status.ts';

const RESULT = 'result.json';
const logOf = (customer: number) => `trajectories-${customer + 1}.jsonl`;

export class EvaluationFolder<Settings extends { customers: number }> extends ResultsFolder<Settings> {
  /**
   * Locks a folder for a new evaluation. It is created when the first trial ends, so a wrong setting leaves no folder.
   * @param force replace the files of an earlier evaluation
   * @throws {UsageError} if the folder is in use or not empty
   */
  static async create<Settings extends { customers: number }>(
    directory: string,
    settings: Settings,
    force = false,
    { command = 'evaluate', kept = {}, ...given }: Pick<Partial<OutOptions>, 'command' | 'inputs' | 'note'> & Pick<Opened, 'kept'> = {},
  ): Promise<EvaluationFolder<Settings>> {
    const opened = await openOut(directory, { command, force, ...given });
    const status: Status<Settings> = {
      command,
      state: 'running',
      pid: process.pid,
      step: 0,
      settings,
      files: [],
      checkpoints: [],
      written: Object.keys(kept),
    };
    return new EvaluationFolder(directory, status, { ...opened, kept });
  }

  /**
   * Locks the folder of an evaluation that was stopped, or that has trials without a score. Incomplete lines and trials without a score
   * are removed from its logs.
   * @param check throws if the evaluation cannot be continued with these settings
   * @param given.settings the schema of the settings
   * @throws {UsageError} if the evaluation can't be continued
   */
  static async resume<Settings extends { customers: number }>(
    directory: string,
    check: (settings: Settings) => Promise<void>,
    given: { command?: string; settings?: SettingsSchema; note?: (text: string) => void } = {},
  ): Promise<EvaluationFolder<Settings>> {
    const { status, lock } = await openStopped<Settings>(directory, {
      flag: '--resume',
      command: 'evaluate',
      isLeft: () => hasUnscored(join(directory, RESULT)),
      ...given,
    });
    try {
      await check(status.settings);
      const folder = new EvaluationFolder(directory, { ...status, message: undefined }, { lock });
      for (let i = 0; i < status.settings.customers; i++) await keepScored(join(directory, logOf(i)));
      await folder.setStatus({ state: 'running', pid: process.pid, sha256: undefined });
      return folder;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** The path of the file with the finished trials of a customer. */
  log(customer: number): string {
    return resolve(this.directory, logOf(customer));
  }

  receive(customer: number, trajectory: Buffer): Promise<void> {
    return this.afterEarlier(() => appendLines(this.log(customer), `${trajectory.toString('utf8')}\n`));
  }

  async finish(result: object): Promise<void> {
    await this.ready();
    await writeAll({ [join(this.directory, RESULT)]: `${JSON.stringify(result)}\n` });
    const hashes: Record<string, string> = {};
    for (let i = 0; i < this.settings.customers; i++) hashes[logOf(i)] = await fileSha256(this.log(i));
    await this.setStatus({ state: 'done', sha256: hashes });
    await this.close();
  }

  /** Deletes the folder, for a command that has written its result elsewhere. A killed process leaves all of it or nothing that counts. */
  async remove(): Promise<void> {
    await this.ready();
    const doomed = `${this.directory}.removed`;
    await rm(doomed, { recursive: true, force: true });
    await rename(this.directory, doomed);
    await rm(doomed, { recursive: true });
    await this.close();
  }

  /** A message that says how to continue. Null if no trial has ended. */
  get continuation(): string | null {
    if (!this.hasTrials) return null;
    return `${this.directory} has the trials that have ended. To continue: ./mua evaluate --resume ${this.directory}`;
  }

  get hasTrials(): boolean {
    return !this.isNew;
  }

  /** Makes an empty log for each customer. */
  protected async firstFiles(): Promise<void> {
    for (let i = 0; i < this.status.settings.customers; i++) await writeFile(this.log(i), '');
  }
}

/** Whether the result of an evaluation counts trials without a score. */
async function hasUnscored(path: string): Promise<boolean> {
  const result = (await readJson(path).catch(() => null)) as { unscored?: unknown; customers?: unknown } | null;
  const reports = (Array.isArray(result?.customers) ? result.customers : [result]) as { unscored?: unknown }[];
  return reports.some((report) => Number(report?.unscored) > 0);
}

/** Keeps only the trials with a score in a log. @throws {UsageError} if a line before the last is damaged */
async function keepScored(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // A process that was killed may have made only the first logs.
    if (error.code === 'ENOENT') return '';
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
  if (unscored.length > 0) await appendFile(join(dirname(path), `${SUPERSEDED}${basename(path)}`), whole(unscored), { flush: true });
  await writeAll({ [path]: whole(scored) });
}

/** The trials in a log whose command has ended. */
export const readTrials = async (path: string): Promise<Trajectory[]> =>
  (await readFile(path, 'utf8')).split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Trajectory)));

/** Sorts trajectories by task. Those without a score come last. */
export function inOrder(trajectories: readonly Trajectory[]): Trajectory[] {
  const place = ({ group, index, reward }: Trajectory) => [reward === null ? 1 : 0, Number(group.split('-').at(-1)), index];
  return trajectories
    .map((trajectory) => ({ trajectory, at: place(trajectory) }))
    .sort((a, b) => a.at.map((value, i) => value - b.at[i]!).find((difference) => difference !== 0) ?? 0)
    .map(({ trajectory }) => trajectory);
}
