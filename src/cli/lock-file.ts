/**
 * @file The lock of a folder of results: a file beside the folder, which names the process that works on the folder. Without it,
 * two commands with one folder would overwrite each other's files.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { UsageError } from './errors.ts';
import { reason } from './files.ts';

const ownerSchema = z.object({
  pid: z.number().check(z.int(), z.positive()),
  host: z.string(),
  /** When the process started, as the system counts it. Empty if the system does not say. It tells two processes with one number apart. */
  start: z.string(),
  since: z.string().check(z.maxLength(40)),
  token: z.string(),
});
type Owner = z.output<typeof ownerSchema>;

export interface FolderLock {
  /** Whether the process that held the lock before was killed. */
  takenOver: boolean;
  release(): Promise<void>;
}

/** The name of the lock if only the folder itself can be written to. */
export const LOCK_INSIDE = '.mua.lock';
/** The time in which a process writes its lock. A lock that is incomplete after it belongs to a process that was killed. */
const WRITING_MS = 1000;

/** The locks of this process, with their tokens. */
const held = new Map<string, string>();
let releasesAtExit = false;

/**
 * Locks a folder until `release`, or until this process ends. The folder need not exist.
 * @param flag the flag that names the folder, for messages
 * @param note gets a line if the lock of a killed process is taken over
 * @throws UsageError if another process works on the folder
 */
export async function lockFolder(directory: string, flag: string, note: (text: string) => void = () => {}): Promise<FolderLock> {
  const place = await realPlace(directory);
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    start: startOf(process.pid),
    since: new Date().toISOString(),
    token: randomBytes(8).toString('hex'),
  };
  const fault = (text: string) => new UsageError(`${flag} is "${directory}": ${text}`);
  try {
    await mkdir(dirname(place), { recursive: true });
    const beside = join(dirname(place), `.${basename(place)}.mua.lock`);
    return await lock(beside, owner, fault, note).catch((error: NodeJS.ErrnoException) => {
      if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '') || !existsSync(place)) throw error;
      return lock(join(place, LOCK_INSIDE), owner, fault, note);
    });
  } catch (error) {
    throw error instanceof UsageError ? error : fault(reason(error));
  }
}

/** The path of a folder that may not exist, without links. */
async function realPlace(directory: string): Promise<string> {
  const path = resolve(directory);
  return realpath(path).catch(async () => join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path)));
}

type Fault = (text: string) => UsageError;

async function lock(path: string, owner: Owner, fault: Fault, note: (text: string) => void): Promise<FolderLock> {
  let takenOver = false;
  if (!(await make(path, owner))) {
    // Only one process at a time may replace a lock. Otherwise two could each remove the lock that the other has just made.
    const guard = `${path}.replacing`;
    if (!(await make(guard, owner))) throw fault(`another process takes over its lock now (if none does, delete ${guard})`);
    try {
      const earlier = await readOwner(path);
      if (earlier && isAlive(earlier)) throw fault(inUse(earlier, path));
      await rm(path, { force: true });
      if (!(await make(path, owner))) throw fault('another process has just begun to work on it');
      takenOver = true;
      if (earlier?.pid !== process.pid)
        note(`mua: ${directoryOf(path)} was locked by a process that has ended${earlier ? ` (${earlier.pid})` : ''}: going on without it`);
    } finally {
      await rm(guard, { force: true });
    }
  }
  if (!releasesAtExit) process.once('exit', releaseAll);
  releasesAtExit = true;
  held.set(path, owner.token);
  return {
    takenOver,
    release: async () => release(path, owner.token),
  };
}

const directoryOf = (path: string) =>
  basename(path) === LOCK_INSIDE ? dirname(path) : join(dirname(path), basename(path).slice(1, -'.mua.lock'.length));

const inUse = ({ pid, host, since }: Owner, path: string) =>
  host === hostname()
    ? `process ${pid} still works on it, since ${since}: expected another folder, or wait until the process ends`
    : `process ${pid} of the computer "${host}" works on it, since ${since} (if it has ended, delete ${path})`;

/** Makes a lock. @returns false if there is one already */
async function make(path: string, owner: Owner): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(owner), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // The disk may be full, which leaves an incomplete lock.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') await rm(path, { force: true });
    throw error;
  }
}

/** The owner of a lock. Null if the lock is incomplete. */
async function readOwner(path: string): Promise<Owner | null> {
  for (;;) {
    const info = await stat(path).catch(() => null);
    if (!info) return null;
    if (!info.isFile()) throw new Error(`${path} is not a regular file: expected a lock`);
    const { success, data } = ownerSchema.safeParse(parsed(await readFile(path, 'utf8').catch(() => '')));
    if (success) return data;
    if (Date.now() - info.mtimeMs > WRITING_MS) return null;
    await setTimeout(WRITING_MS / 10);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isAlive({ pid, host, start }: Owner): boolean {
  if (host !== hostname()) return true;
  // One process uses a folder once at a time, so its own lock is one that it no longer uses.
  if (pid === process.pid) return false;
  return isRunning(pid) && (start === '' || startOf(pid) === '' || start === startOf(pid));
}

/** Whether a process of this computer runs. A process that waits for its parent to read its exit code does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !/^[ZX]/.test(statOf(pid)[0] ?? '');
}

/** The fields of `/proc/PID/stat` from the third on (man 5 proc). Empty on other systems. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** When the process started: the boot of the system, and clock ticks since then. Empty on systems without `/proc`. */
function startOf(pid: number): string {
  const ticks = statOf(pid)[19];
  if (ticks === undefined) return '';
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${ticks}`;
}

/** Removes a lock, unless another process has replaced it. This is synchronous, because it also happens when the process ends. */
function release(path: string, token: string): void {
  held.delete(path);
  try {
    if (ownerSchema.safeParse(parsed(readFileSync(path, 'utf8'))).data?.token === token) rmSync(path);
  } catch {
    // The folder was deleted, or can no longer be written to. The next process finds that this one has ended.
  }
}

function releaseAll(): void {
  for (const [path, token] of held) release(path, token);
}
