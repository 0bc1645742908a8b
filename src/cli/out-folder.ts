/**
 * @file What all folders of `--out` have in common: the folder must be new or empty, logs have only complete lines, and
 * `status.json` says how far the command is.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readdir, rmdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from './errors.ts';
import { readJson, reason, writeAll } from './files.ts';

const STATUS = 'status.json';

export interface SavedCheckpoint {
  step: number;
  file: string;
  sha256: string;
  /** The length of each log when the checkpoint was saved. */
  bytes: Record<string, number>;
}

/** The content of `status.json`. */
export interface Status<Settings extends object = object> {
  command: string;
  /** If the process was killed, this is still `running`. */
  state: 'running' | 'interrupted' | 'failed' | 'done';
  pid: number;
  /** The last finished step. */
  step: number;
  /** The settings with which the command was started. */
  settings: Settings;
  /** Names of the model's files, except for its weights. */
  files: string[];
  /** The files with the weights with which a run began. */
  weights?: Record<string, { path: string; sha256: string }>;
  /** The newest checkpoint comes first. */
  checkpoints: SavedCheckpoint[];
  /** The reason why the command failed. */
  message?: string | undefined;
  /** The SHA-256 digests of the files, in hex. Only after the command is done. */
  sha256?: Record<string, string>;
}

/**
 * Checks that a folder can be used for results.
 * @param directory the value of --out
 * @param force if true, the folder may contain results, which are then replaced
 * @throws UsageError if the folder cannot be made, or is not empty
 */
export async function checkOut(directory: string, force: boolean): Promise<void> {
  const existing = await stat(directory).catch(() => null);
  if (existing && !existing.isDirectory()) throw new UsageError(`--out is "${directory}": expected a folder, but it is a file`);
  if (existing && !force && (await readdir(directory)).length > 0)
    throw new UsageError(
      `--out is "${directory}": the folder is not empty: expected a new folder, --resume to continue a run, or --force to replace it`,
    );
  try {
    await mkdir(directory, { recursive: true });
    if (!existing) await rmdir(directory);
  } catch (error) {
    throw new UsageError(`--out is "${directory}": ${reason(error)}`);
  }
}

/** Appends complete lines. If this fails, for example because the disk is full, the file is cut back to its old length. */
export async function appendLines(path: string, lines: string): Promise<void> {
  const { size } = await stat(path);
  try {
    await appendFile(path, lines);
  } catch (error) {
    await truncate(path, size).catch(() => {});
    throw error;
  }
}

/** The status of a folder. Null if it has none. */
export async function readStatus<Settings extends object>(directory: string): Promise<Status<Settings> | null> {
  const path = join(directory, STATUS);
  if (!(await stat(path).catch(() => null))) return null;
  const status = (await readJson(path)) as Status<Settings> | null;
  if (
    typeof status?.command !== 'string' ||
    typeof status.settings !== 'object' ||
    !Array.isArray(status.files) ||
    !Array.isArray(status.checkpoints)
  )
    throw new UsageError(`${path} is not the status of a run: expected command, settings, files and checkpoints`);
  return status;
}

/** The status of a command that was stopped. @throws UsageError if the command can't be continued */
export async function statusToResume<Settings extends object>(
  directory: string,
  { flag, command }: { flag: string; command: string },
): Promise<Status<Settings>> {
  const fault = (text: string) => new UsageError(`${flag} is "${directory}": ${text}`);
  const status = await readStatus<Settings>(directory);
  if (!status) throw fault(`it has no ${STATUS}: expected the folder of a run`);
  if (status.command !== command) throw fault(`it is a run of mua ${status.command}: expected ./mua ${status.command} --resume`);
  if (status.state === 'done') throw fault('it is done: nothing is left to do');
  if (status.state === 'running' && status.pid !== process.pid && isAlive(status.pid))
    throw fault(`process ${status.pid} still works on it (if that is another program, remove "pid" from ${STATUS})`);
  return status;
}

export const writeStatus = (directory: string, status: Status): Promise<void> =>
  writeAll({ [join(directory, STATUS)]: `${JSON.stringify(status, null, 1)}\n` });

function isAlive(pid: number): boolean {
  try {
    return Number.isInteger(pid) && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

export async function fileSha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest('hex');
}
