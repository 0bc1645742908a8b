// @ts-check
/** Finds the files of the user's copy of tau-bench or tau2-bench. The importer checks their content. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { UsageError } from './errors.mjs';
import { LEVEL } from './commands/shared.mjs';
import { reason } from './files.mjs';

export const DOMAINS = { tau1: ['retail', 'airline'], tau2: ['retail', 'airline', 'telecom', 'mock'] };

/** @type {Record<'domain' | 'rules' | 'data', import('./args.mjs').Flag>} */
export const DATA_FLAGS = {
  domain: { type: 'string', value: 'NAME', help: DOMAINS.tau2.join(', '), required: true, choices: DOMAINS.tau2 },
  rules: { type: 'string', value: 'tau1|tau2', help: 'tau-bench v1 or tau2-bench', required: true, choices: Object.keys(DOMAINS) },
  data: { type: 'string', value: 'DIR', help: 'folder (or zip) with the benchmark’s files', required: true },
};

const GENERATED = ['retail', 'telecom'];

/** A domain as generated, or of a benchmark. @type {Record<'domain' | 'level' | 'rules' | 'data', import('./args.mjs').Flag>} */
export const PLACE_FLAGS = {
  domain: {
    ...DATA_FLAGS.domain,
    required: false,
    help: 'retail or telecom as generated; retail, airline, telecom or mock of --data (default retail)',
  },
  level: {
    ...LEVEL,
    default: undefined,
    help: 'difficulty of generated tasks: glimpse (retail only), nano, small or full (default nano)',
  },
  rules: {
    ...DATA_FLAGS.rules,
    required: false,
    help: 'rules of conversation, tools and rewards: tau-bench v1 or tau2-bench; needs --data',
  },
  data: { ...DATA_FLAGS.data, required: false, help: 'folder (or zip) with the benchmark’s files: its tasks instead of generated ones' },
};

/**
 * The files of a benchmark: for each file, the path for the importer and the path on disk.
 * @typedef {{ domain: any, rules: 'tau1' | 'tau2', files: [path: string, file: string][] }} BenchmarkData
 */

/**
 * @param {Record<string, any>} flags
 * @returns {Promise<BenchmarkData>}
 * @throws {UsageError}
 */
export async function findData({ domain, rules, data }) {
  const domains = DOMAINS[/** @type {'tau1' | 'tau2'} */ (rules)];
  if (!domains.includes(domain)) throw new UsageError(`--domain is "${domain}": ${rules} has ${domains.join(', ')}`);
  const info = await stat(data).catch((error) => {
    throw new UsageError(`--data is "${data}": ${reason(error)}`);
  });
  if (!info.isDirectory() && !(info.isFile() && data.endsWith('.zip')))
    throw new UsageError(`--data is "${data}": expected a folder or a .zip file`);
  return { domain, rules, files: info.isDirectory() ? await listFiles(data) : [[basename(data), data]] };
}

/**
 * The benchmark that `PLACE_FLAGS` name; undefined for a generated domain.
 * @param {Record<string, any>} flags
 * @returns {Promise<BenchmarkData | undefined>}
 * @throws {UsageError}
 */
export async function findPlaceData({ domain, level, rules, data }) {
  if ((rules === undefined) !== (data === undefined))
    throw new UsageError(
      `--${rules === undefined ? 'data' : 'rules'} is given: expected --${rules === undefined ? 'rules tau1 or tau2' : 'data DIR'} with it`,
    );
  if (rules === undefined) {
    if (!GENERATED.includes(domain))
      throw new UsageError(`--domain is "${domain}": without --rules and --data, expected ${GENERATED.join(' or ')}`);
    return undefined;
  }
  if (level !== undefined) throw new UsageError(`--level is "${level}": the tasks of --data have no levels`);
  return findData({ domain, rules, data });
}

const DEPTH = 8;

/**
 * All files in a folder and its subfolders. Links are not followed.
 * @param {string} root
 * @returns {Promise<[string, string][]>}
 */
async function listFiles(root, folder = root, depth = 0) {
  const entries = await readdir(folder, { withFileTypes: true });
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return depth < DEPTH && !/^(\.|node_modules$)/.test(entry.name) ? listFiles(root, path, depth + 1) : [];
      return entry.isFile() ? [/** @type {[string, string]} */ ([relative(root, path).split(sep).join('/'), path])] : [];
    }),
  );
  return lists.flat();
}
