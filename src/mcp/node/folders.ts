/** @file The folders in which commands are started. Their names have the process, so that it can remove those of all its threads. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = `mua-mcp-${process.pid}-`;

/** Makes a folder that no other command has. */
export const makeFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));

/** A command that is being killed may still write into the folder. */
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });

/** Removes the folders of all threads. Only for the end of the process: a thread that is ended from outside removes nothing. */
export function removeFolders(): void {
  try {
    for (const name of readdirSync(tmpdir())) if (name.startsWith(PREFIX)) removeFolder(join(tmpdir(), name));
  } catch {} // nobody is left to hear of it
}
