// @ts-check
/** What the folders of `--out` have in common: a new or empty folder, logs of whole lines, and `status.json`. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readdir, rmdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from './errors.mjs';
import { readJson, reason, writeAll } from './files.mjs';

const STATUS = 'status.json';

/**
 * @typedef {object} SavedCheckpoint
 * @property {number} step
 * @property {string} file
 * @property {string} sha256
 * @property {Record<string, number>} bytes length of each log up to here
 */
/**
 * @typedef {object} Status
 * @property {string} command
 * @property {'running' | 'interrupted' | 'failed' | 'done'} state a killed process stays `running`
 * @property {number} pid
 * @property {number} step the last finished step
 * @property {Record<string, any>} settings what the command was started with
 * @property {string[]} files names of the model's files, without its weights
 * @property {Record<string, { path: string, sha256: string }>} [weights] those that a run began with
 * @property {SavedCheckpoint[]} checkpoints newest first
 * @property {string} [message] why it failed
 * @property {Record<string, string>} [sha256] of files of a command that is done, in hex
 */

/**
 * @param {string} directory of --out
 * @param {boolean} force whether it may hold results, which are then replaced
 * @throws {UsageError} if the folder cannot be made, or is not empty
 */
export async function checkOut(directory, force) {
  const existing = await stat(directory).catch(() => null);
  if (existing && !existing.isDirectory()) throw new UsageError(`--out is "${directory}": expected a folder, it is a file`);
  if (existing && !force && (await readdir(directory)).length > 0)
    throw new UsageError(
      `--out is "${directory}": the folder is not empty: expected a new folder, --resume to go on with a run, or --force to replace it`,
    );
  try {
    await mkdir(directory, { recursive: true });
    if (!existing) await rmdir(directory);
  } catch (error) {
    throw new UsageError(`--out is "${directory}": ${reason(error)}`);
  }
}

/** Appends whole lines: if the disk is full, the file keeps its old length. @param {string} path @param {string} lines */
export async function appendLines(path, lines) {
  const { size } = await stat(path);
  try {
    await appendFile(path, lines);
  } catch (error) {
    await truncate(path, size).catch(() => {});
    throw error;
  }
}

/** The status in a folder, or null. @param {string} directory @returns {Promise<Status | null>} */
export async function readStatus(directory) {
  const path = join(directory, STATUS);
  if (!(await stat(path).catch(() => null))) return null;
  const status = await readJson(path);
  if (
    typeof status?.command !== 'string' ||
    typeof status.settings !== 'object' ||
    !Array.isArray(status.files) ||
    !Array.isArray(status.checkpoints)
  )
    throw new UsageError(`${path} is not the status of a run: expected command, settings, files and checkpoints`);
  return status;
}

/**
 * The status of a command that was stopped.
 * @param {string} directory
 * @param {{ flag: string, command: string }} options
 * @returns {Promise<Status>}
 * @throws {UsageError} if the command can't go on
 */
export async function statusToResume(directory, { flag, command }) {
  const fault = (/** @type {string} */ text) => new UsageError(`${flag} is "${directory}": ${text}`);
  const status = await readStatus(directory);
  if (!status) throw fault(`it has no ${STATUS}: expected the folder of a run`);
  if (status.command !== command) throw fault(`it is a run of mua ${status.command}: expected mua ${status.command} --resume`);
  if (status.state === 'done') throw fault('it is done: nothing is left to do');
  if (status.state === 'running' && status.pid !== process.pid && isAlive(status.pid))
    throw fault(`process ${status.pid} still works on it (if that is another program, remove "pid" from ${STATUS})`);
  return status;
}

/** @param {string} directory @param {Status} status */
export const writeStatus = (directory, status) => writeAll({ [join(directory, STATUS)]: `${JSON.stringify(status, null, 1)}\n` });

/** @param {number} pid */
function isAlive(pid) {
  try {
    return Number.isInteger(pid) && process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** @param {Buffer | string} bytes */
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** @param {string} path */
export async function fileSha256(path) {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest('hex');
}
