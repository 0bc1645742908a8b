/** @file The folders in which commands are started. Their names have the process, so that those of all its threads can be found. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** With the computer, because containers may share a folder of temporary files, but have processes of their own. */
const PREFIX = `mua-mcp-${hostname()}-`;
let removedLost = false;

/** Makes a folder that no other command has. The first call also removes the folders of processes that were killed. */
export function makeFolder(): string {
  if (!removedLost) removeWhere((pid) => pid !== process.pid && !exists(pid));
  removedLost = true;
  return realpathSync(mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)));
}

/** A command that is being killed may still write into the folder. */
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });

/** Removes the folders of all threads. Only for the end of the process: a thread that is ended from outside removes nothing. */
export const removeFolders = (): void => removeWhere((pid) => pid === process.pid);

function removeWhere(isOver: (pid: number) => boolean): void {
  try {
    for (const name of readdirSync(tmpdir())) {
      // Whole: the name of another computer may begin with that of this one.
      const [, pid] = (name.startsWith(PREFIX) && /^(\d+)-[^-]+$/.exec(name.slice(PREFIX.length))) || [];
      if (pid !== undefined && isOver(Number(pid))) removeFolder(join(tmpdir(), name));
    }
  } catch {} // a folder that cannot be removed harms no command
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
