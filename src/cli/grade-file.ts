/** @file The file of `mua grade`: the rows of the input in their order, each with its grades. The same command continues the file. */
import { readFile, stat, truncate } from 'node:fs/promises';
import { toPythonJson } from '../agent/python-json.ts';
import { isObject } from '../base/json.ts';
import type { JsonRow } from '../base/json-rows.ts';
import type { Graded, Grades } from '../records/grades.ts';
import { decide } from '../synthesis/keep.ts';
import { GRADE_FIELDS, readGrades, ungraded } from '../synthesis/rows.ts';
import { UsageError } from './errors.ts';
import { checkParent, reason, writeAll } from './files.ts';
import { type FolderLock, lockFolder } from './lock-file.ts';
import { appendLines } from './out-folder.ts';

/** The row as it stands in the input, up to its grades. Its text is kept, because reading it could change numbers. */
function beginning({ text, value }: JsonRow): string {
  const isPlain = isObject(value) && !GRADE_FIELDS.some((name) => Object.hasOwn(value, name));
  const own = isPlain && text !== undefined ? text.trim() : toPythonJson(ungraded(value));
  return own.slice(0, -1).trimEnd();
}

export class GradeOut {
  /** Resolves when all earlier rows are on the disk. */
  #written: Promise<unknown> = Promise.resolve();
  #ready = new Map<number, string>();
  /** New lines for rows that were finished before. */
  #replaced = new Map<number, string>();
  #next: number;

  private constructor(
    readonly path: string,
    private readonly lock: FolderLock,
    private readonly rows: readonly JsonRow[],
    /** The grades of the rows that were finished before. */
    readonly finished: readonly Graded[],
    private isNew: boolean,
  ) {
    this.#next = finished.length;
  }

  /**
   * Locks the file until the end of the process.
   * @param check returns what is wrong with the earlier grades of a row, or null
   * @throws UsageError if the file is no grading of these rows, is in use or cannot be written
   */
  static async open(path: string, rows: readonly JsonRow[], check: (grades: Grades, row: number) => string | null): Promise<GradeOut> {
    await checkParent('out', path);
    const lock = await lockFolder(path, '--out');
    try {
      if (!(await stat(path).catch(() => null))) return new GradeOut(path, lock, rows, [], true);
      const fault = (text: string) =>
        new UsageError(`--out is "${path}": ${text}: expected a new file, or the same settings to continue it`);
      const text = await readFile(path, 'utf8').catch((error) => {
        throw new UsageError(`--out is "${path}": ${reason(error)}`);
      });
      // A process that was killed may have left an incomplete last line.
      const complete = text.slice(0, text.lastIndexOf('\n') + 1);
      const lines = complete.split('\n').slice(0, -1);
      if (lines.length > rows.length || (lines.length === 0 && text !== '')) throw fault('it exists, and it has other rows');
      const finished = lines.map((line, i): Graded => {
        const graded = gradesIn(line, rows[i]!);
        if (!graded) throw fault(`its line ${i + 1} is not a grade of row ${i + 1}`);
        const wrong = check(graded.grades, i);
        if (wrong !== null) throw fault(`its line ${i + 1} ${wrong}`);
        return graded;
      });
      await truncate(path, Buffer.byteLength(complete));
      return new GradeOut(path, lock, rows, finished, false);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * Adds the grades of a row. They are written as soon as all rows before it are; new grades of a finished row are written by `close`.
   * @throws CommandError or an error of the disk
   */
  add(row: number, { grades, keep, keep_reasons }: Graded): Promise<void> {
    const line = `${beginning(this.rows[row]!)}, ${JSON.stringify({ grades, keep, keep_reasons }).slice(1)}\n`;
    if (row < this.finished.length) {
      this.#replaced.set(row, line);
      return Promise.resolve();
    }
    this.#ready.set(row, line);
    const write = async () => {
      const lines: string[] = [];
      for (let line = this.#ready.get(this.#next); line !== undefined; line = this.#ready.get(this.#next)) {
        lines.push(line);
        this.#ready.delete(this.#next++);
      }
      if (lines.length === 0) return;
      if (this.isNew) await writeAll({ [this.path]: lines.join('') });
      else await appendLines(this.path, lines.join(''));
      this.isNew = false;
    };
    const written = this.#written.then(write);
    this.#written = written.catch(() => {});
    return written;
  }

  /** How many rows are on the disk or on their way. */
  get done(): number {
    return this.#next;
  }

  /** Waits for the rows on their way to the disk, and lets other commands use the file. */
  async close(): Promise<void> {
    await this.#written;
    await this.#replace();
    await this.lock.release();
  }

  async #replace(): Promise<void> {
    if (this.#replaced.size === 0) return;
    const lines = (await readFile(this.path, 'utf8')).split(/(?<=\n)/);
    await writeAll({ [this.path]: lines.map((line, i) => this.#replaced.get(i) ?? line).join('') });
    this.#replaced.clear();
  }
}

/** Null if the line is not the row with grades. */
function gradesIn(line: string, row: JsonRow): Graded | null {
  const start = `${beginning(row)}, "grades":`;
  if (!line.startsWith(start)) return null;
  try {
    const grades = readGrades(JSON.parse(`{"grades":${line.slice(start.length)}`), row.where);
    return grades ? decide(grades) : null;
  } catch {
    return null;
  }
}
