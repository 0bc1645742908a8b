/**
 * @file What `mua synthesize` has played, beside its output until the output is complete: a line with the settings, then a line for each
 * task. A command that was stopped continues from it.
 */
import { readFile, rm, stat, truncate } from 'node:fs/promises';
import { equalJson, isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import { CommandError, UsageError } from './errors.ts';
import { reason, writeAll } from './files.ts';
import { type FolderLock, lockFolder } from './lock-file.ts';
import { appendLines } from './out-folder.ts';

/** A line of the file: a task that was played, what requests without a conversation have cost, or the seconds so far of all commands. */
type Line = { place: number; task: number; played: unknown } | { spent: unknown } | { seconds: number };

/** The number of tasks that were played. */
const countOf = (lines: readonly Line[]): number => lines.filter((line) => 'task' in line).length;

export class Journal {
  readonly #start = performance.now();
  #written: Promise<void> = Promise.resolve();
  #count: number;
  /** The seconds of the commands before this one. */
  readonly #before: number;

  private constructor(
    readonly path: string,
    private readonly header: string,
    private readonly lock: FolderLock,
    /** The lines of the stopped command. */
    private readonly earlier: readonly Line[],
    private isNew: boolean,
  ) {
    this.#count = countOf(earlier);
    this.#before = earlier.reduce((last, line) => ('seconds' in line ? line.seconds : last), 0);
  }

  /**
   * @param settings what decides the output
   * @throws UsageError if a stopped command is not continued, or was another one
   */
  static async open(out: string, settings: Record<string, unknown>, resume: boolean): Promise<Journal> {
    const path = `${out}.unfinished`;
    const lock = await lockFolder(path, '--out');
    const header = JSON.stringify({ command: 'synthesize', settings });
    try {
      const exists = (await stat(path).catch(() => null)) !== null;
      if (exists && !resume)
        throw new UsageError(
          `--out is "${out}": a stopped command left ${path}: expected --resume, another --out, or that you delete this file`,
        );
      if (!exists && resume)
        throw new UsageError(`--resume is given: there is no ${path}: expected the --out of a command that was stopped`);
      return new Journal(path, header, lock, exists ? await readLines(path, header) : [], !exists);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** What was played at a place before, by the number of the task. */
  played<T>(place: number): Map<number, T> {
    return new Map(this.earlier.flatMap((line) => ('place' in line && line.place === place ? [[line.task, line.played as T]] : [])));
  }

  /** What requests without a conversation have cost before. */
  spent<T>(): T[] {
    return this.earlier.flatMap((line) => ('spent' in line ? [line.spent as T] : []));
  }

  /** How long this command and those before it have worked. */
  get seconds(): number {
    return this.#before + (performance.now() - this.#start) / 1000;
  }

  /** @throws CommandError if the disk refuses */
  add(lines: readonly Line[]): Promise<void> {
    const text = [...lines, { seconds: this.seconds }].map((line) => `${JSON.stringify(line)}\n`).join('');
    const written = this.#written.then(async () => {
      try {
        if (this.isNew) await writeAll({ [this.path]: `${this.header}\n${text}` });
        else await appendLines(this.path, text);
        this.isNew = false;
        this.#count += countOf(lines);
      } catch (error) {
        throw new CommandError(`could not write to ${this.path}: ${reason(error)}`);
      }
    });
    this.#written = written.catch(() => {});
    return written;
  }

  /** Whether there is nothing to continue. */
  get isEmpty(): boolean {
    return this.isNew;
  }

  /** Waits for the lines on their way. @returns how to continue */
  async close(): Promise<string> {
    await this.#written;
    await this.lock.release();
    return this.isNew
      ? 'stopped: nothing was written'
      : `${this.path} has ${this.#count} conversations: the same command with --resume goes on`;
  }

  /** Deletes the file. Its content is in the output now. */
  async remove(): Promise<void> {
    await this.#written;
    await rm(this.path, { force: true });
    await this.lock.release();
  }
}

async function readLines(path: string, header: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new UsageError(`${path}: ${reason(error)}`);
  });
  // A process that was killed may have left an incomplete last line.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [first = '', ...lines] = whole.split('\n').slice(0, -1);
  const other = differing(first, header);
  if (other !== null) throw new UsageError(`--resume is given: ${path} is of a command with ${other}: expected the same command`);
  const read = lines.map((line, i): Line => {
    try {
      const value: unknown = JSON.parse(line);
      if (
        isObject(value) &&
        ('spent' in value || Number.isFinite(value.seconds) || (Number.isInteger(value.place) && Number.isInteger(value.task)))
      )
        return value as Line;
    } catch {}
    throw new UsageError(`${path}: line ${i + 2} is damaged: delete it and the lines after it`);
  });
  await truncate(path, Buffer.byteLength(whole));
  return read;
}

/** What differs between two headers, in words. Null: nothing. */
function differing(earlier: string, now: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(earlier);
  } catch {}
  if (!isObject(value) || value.command !== 'synthesize' || !isObject(value.settings)) return 'another form';
  const [before, after] = [value.settings, (JSON.parse(now) as { settings: Record<string, unknown> }).settings];
  const name = [...Object.keys(before), ...Object.keys(after)].find(
    (key) => !equalJson((before[key] ?? null) as Json, (after[key] ?? null) as Json),
  );
  return name === undefined ? null : `another ${name} (${JSON.stringify(before[name]) ?? 'none'})`;
}
