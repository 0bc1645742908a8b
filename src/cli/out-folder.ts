/**
 * @file What all folders of `--out` have in common: the folder is new or empty, or its earlier results are replaced; logs have
 * only complete lines; and no other process works on the folder.
 */
import { createHash } from 'node:crypto';
import { appendFile, lstat, mkdir, readdir, realpath, rm, rmdir, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type * as z from 'zod/mini';
import { checked } from '../exchange/checked.ts';
import { isModelFile } from '../exchange/model-files.ts';
import { UsageError } from './errors.ts';
import { readJson, reason, RUN_FILE, writeAll } from './files.ts';
import { type FolderLock, isRunning, LOCK_INSIDE, lockFolder } from './lock-file.ts';
import { expectRegular, readPieces } from './read.ts';
import { filesOf, LOG, STATUS, type Status, statusSchema } from './status.ts';

/** Commands whose results may replace each other. */
const ALIKE = [['train', 'sft', 'dpo'], ['evaluate']];

/** A folder for the results of a new command. */
export interface NewFolder {
  lock: FolderLock;
  /** The files of an earlier command, which the first result replaces. */
  earlier: string[];
}

/** The schema of the settings in a status. */
export type SettingsSchema = z.ZodMiniType;

export interface OutOptions {
  command: string;
  /** If true, the folder may contain results, which are then replaced. */
  force?: boolean | undefined;
  /** Files that the command reads. They may not be in the folder. */
  inputs?: readonly string[];
  note?: ((text: string) => void) | undefined;
}

/**
 * Locks a folder, and checks that it can be used for results.
 * @param directory the value of --out
 * @throws UsageError if the folder is in use, cannot be made, is not empty, or has files that are no results
 */
export async function openOut(directory: string, { command, force = false, inputs = [], note }: OutOptions): Promise<NewFolder> {
  const fault = (text: string) => new UsageError(`--out is "${directory}": ${text}`);
  const existing = await stat(directory).catch(() => null);
  if (existing && !existing.isDirectory()) throw fault('expected a folder, but it is a file');
  const lock = await lockFolder(directory, '--out', note);
  try {
    const names = existing ? (await readdir(directory)).filter((name) => name !== LOCK_INSIDE) : [];
    if (names.length > 0 && !force)
      throw fault('the folder is not empty: expected a new folder, --resume to continue a run, or --force to replace it');
    await mkdir(directory, { recursive: true });
    if (!existing) await rmdir(directory);
    return { lock, earlier: names.length > 0 ? await earlierResults(directory, names, command, inputs) : [] };
  } catch (error) {
    await lock.release();
    throw error instanceof UsageError ? error : fault(reason(error));
  }
}

/** The files that --force deletes. Only files that the folder's own `status.json` names are among them. */
async function earlierResults(directory: string, names: readonly string[], command: string, inputs: readonly string[]): Promise<string[]> {
  const fault = (text: string) => new UsageError(`--out is "${directory}": ${text}: expected another folder`);
  const place = await realpath(directory);
  for (const input of inputs)
    if (dirname(await realpath(input).catch(() => '')) === place) throw fault(`--force would replace ${input}, which the command reads`);
  const status = await readStatus(directory);
  if (status && !ALIKE.some((alike) => alike.includes(command) && alike.includes(status.command)))
    throw fault(`it has a result of mua ${status.command}, which --force of mua ${command} does not replace`);
  const named = new Set(status ? [STATUS, 'result.json', ...filesOf(status)] : []);
  const own = (name: string) => named.has(name) || (status !== null && LOG.test(name));
  const foreign = names.find((name) => isOverwritten(name) && !own(name));
  if (foreign !== undefined) throw fault(`${foreign} is not a result that its ${STATUS} names, so --force does not replace it`);
  const earlier = names.filter(own);
  await expectFiles(directory, earlier);
  return earlier;
}

/** Whether a command may write a file of this name. */
const isOverwritten = (name: string) =>
  LOG.test(name) ||
  RUN_FILE.test(name) ||
  /^(adapter_)?model\.safetensors$/.test(name) ||
  (isModelFile(name) && /\.(json|jinja)$/.test(name));

/** Deletes the results of an earlier command. The status goes last, so that a killed process leaves a folder that can be replaced. */
export async function removeEarlier(directory: string, earlier: readonly string[]): Promise<void> {
  for (const name of earlier.toSorted((a, b) => Number(a === STATUS) - Number(b === STATUS))) await rm(join(directory, name));
}

/** @throws UsageError if one of the files is a link, a folder or a device: writing to it would change something outside the folder */
async function expectFiles(directory: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const info = await lstat(join(directory, name)).catch(() => null);
    if (info && !info.isFile()) throw new UsageError(`${join(directory, name)}: expected a regular file, as the folder of a run has`);
  }
}

/** The status of a folder. Null if it has none. @throws UsageError if the file is no status */
export async function readStatus<Settings extends object>(directory: string): Promise<Status<Settings> | null> {
  const path = join(directory, STATUS);
  if (!(await stat(path).catch(() => null))) return null;
  return read<Status<Settings>>(statusSchema, await readJson(path), path);
}

function read<T>(schema: SettingsSchema, value: unknown, path: string, where = ''): T {
  try {
    return checked<T>(schema, value, path, where);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}, as the status of a run has`);
  }
}

export const writeStatus = (directory: string, status: Status): Promise<void> =>
  writeAll({ [join(directory, STATUS)]: `${JSON.stringify(status, null, 1)}\n` });

/** Appends complete lines. If this fails, for example because the disk is full, the file is cut back to its old length. */
export async function appendLines(path: string, lines: string): Promise<void> {
  const { size } = await stat(path);
  try {
    await appendFile(path, lines, { flush: true });
  } catch (error) {
    await truncate(path, size).catch(() => {});
    throw error;
  }
}

/**
 * Locks the folder of a command that was stopped, and reads its status.
 * @throws UsageError if the command can't be continued
 */
export async function openStopped<Settings extends object>(
  directory: string,
  {
    flag,
    command,
    note,
    settings,
    isLeft,
  }: {
    flag: string;
    command: string;
    note?: (text: string) => void;
    settings?: SettingsSchema | undefined;
    /** Whether a command that is done has left something to do. */
    isLeft?: () => Promise<boolean>;
  },
): Promise<{ status: Status<Settings>; lock: FolderLock }> {
  const fault = (text: string) => new UsageError(`${flag} is "${directory}": ${text}`);
  if (!(await stat(join(directory, STATUS)).catch(() => null))) throw fault(`it has no ${STATUS}: expected the folder of a run`);
  const lock = await lockFolder(directory, flag, note);
  try {
    const status = await readStatus<Settings>(directory);
    if (!status) throw fault(`it has no ${STATUS}: expected the folder of a run`);
    if (status.command !== command) throw fault(`it is a run of mua ${status.command}: expected ./mua ${status.command} --resume`);
    if (status.state === 'done' && !(await isLeft?.())) throw fault('it is done: nothing is left to do');
    const { state, pid = 0 } = status;
    // The lock says this more exactly. A process of another version, or in another container, may have made none.
    if (state === 'running' && !lock.takenOver && pid > 0 && pid !== process.pid && isRunning(pid))
      throw fault(`process ${pid} still works on it (if that is another program, remove "pid" from ${STATUS})`);
    const names = await readdir(directory);
    await expectFiles(
      directory,
      names.filter((name) => LOG.test(name) || name === STATUS || filesOf(status).includes(name) || RUN_FILE.test(name)),
    );
    if (settings) status.settings = read(settings, status.settings, join(directory, STATUS), 'settings');
    return { status, lock };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** The SHA-256 of a file of any size. @throws Error if it is not a regular file: a device or a pipe may have no end */
export async function fileSha256(path: string): Promise<string> {
  await expectRegular(path);
  const hash = createHash('sha256');
  for await (const part of readPieces(path)) hash.update(part);
  return hash.digest('hex');
}
