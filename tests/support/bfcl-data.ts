/** The reference data of BFCL, which is outside the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type BfclData, readBfcl } from '../../src/benchmarks/bfcl/data.ts';

const shared = resolve(import.meta.dirname, '../../../shared/data');
export const bfclFolder = resolve(shared, 'bfcl');
export const hasBfcl =
  ['multi_turn', 'protocol', 'adversarial'].every((name) => existsSync(resolve(shared, `expected/bfcl_${name}.json`))) &&
  existsSync(bfclFolder);

/** All files of a folder, as their paths inside it. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

export const readFolder = (folder: string): Promise<BfclData> =>
  readBfcl(filesOf(folder), async (path) => readFileSync(join(folder, path), 'utf8'));

/** The file has no white space between a key and its value, so a text with `: NaN` stays. */
export const expectedBfcl = <T>(name: string): T =>
  JSON.parse(readFileSync(resolve(shared, `expected/bfcl_${name}.json`), 'utf8').replace(/":(-?Infinity|NaN)/g, '":null')) as T;

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
