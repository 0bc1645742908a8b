/** @file A folder on this disk with a model for transformers.js that plays the customer, and how a page of the browser gets its files. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { checkFolder } from '../local/check.ts';
import type { FolderFile } from '../local/folder.ts';
import { LocalError } from '../local/local-error.ts';
import { folderPrecisions, holdsWeights, isDescription } from '../local/precision.ts';
import { ONNX_DTYPES, type LocalModel } from '../records/user.ts';
import { UsageError } from './errors.ts';
import { reason } from './files.ts';
import type { JobFiles } from './job-files.ts';

/** A folder as the page sees it. `model` is its name, without its place on the disk. */
export type FolderOrder = Pick<LocalModel, 'model' | 'precision'> & { files: Pick<FolderFile, 'path' | 'bytes'>[] };
export type CustomerFolder = FolderOrder & { directory: string };

export const FOLDER = 'folder:';

/**
 * @param text `folder:DIR` or `folder:DIR@PRECISION`; without a precision, the smallest one of the folder is taken
 * @throws UsageError if the folder has no model for transformers.js
 */
export async function findCustomerFolder(text: string, flag: string): Promise<CustomerFolder> {
  const asked = ONNX_DTYPES.find((name) => text.endsWith(`@${name}`));
  const directory = resolve(text.slice(FOLDER.length, asked && -(asked.length + 1)));
  const model = basename(directory);
  try {
    const weights = await readdir(join(directory, 'onnx'), { recursive: true }).catch(() => []);
    const paths = [...(await readdir(directory)).filter(isDescription), ...weights.map((path) => `onnx/${path.split(sep).join('/')}`)];
    const sizes = await Promise.all(paths.map(async (path) => ({ path, info: await stat(join(directory, path)) })));
    const all = sizes.flatMap(({ path, info }) => (info.isFile() ? [{ path, bytes: info.size }] : []));
    const [smallest] = folderPrecisions(model, all);
    const precision = asked ?? smallest!;
    await checkFolder({ model, precision }, all.map(({ path }) => path), (path) => readFile(join(directory, path), 'utf8')); // prettier-ignore
    return { directory, model, precision, files: all.filter(({ path }) => isDescription(path) || holdsWeights(path, precision)) };
  } catch (error) {
    throw new UsageError(`${flag} is "${text}": ${error instanceof LocalError ? error.message : reason(error)}`);
  }
}

/** Offers the files to a page, which stores them with `keepFolders`. */
export function offerFolders(files: JobFiles, folders: readonly CustomerFolder[]): FolderOrder[] {
  return folders.map(({ directory, ...order }, i) => {
    for (const { path } of order.files) files.offer(`folder/${i}/${path}`, { file: join(directory, path) });
    return order;
  });
}
