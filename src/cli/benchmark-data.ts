/** @file Finds the files of a benchmark on this computer. The importer checks their content. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { UsageError } from './errors.ts';
import { BENCHMARKS } from '../benchmarks/index.ts';
import { benchmarkNamed } from '../benchmarks/named.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Flag, Flags, Values } from './args.ts';
import { derivedName, GENERATED, IMPORTED_LEVEL, IMPORTED_LEVELS, importedLevels, LEVELS, usualLevel } from '../domains/registry.ts';
import { DEFAULT_DOMAIN, LEVEL } from './commands/shared.ts';
import { reason } from './files.ts';
import { fileSha256, sha256 } from './out-folder.ts';

const RULES = BENCHMARKS.map(({ name }) => name);
const TITLES = BENCHMARKS.map(({ title }) => title).join(' or ');
const DOMAINS = [...new Set(BENCHMARKS.flatMap(({ domains }) => domains.map(({ name }) => name)))];

export const DATA_FLAGS = {
  domain: { type: 'string', value: 'NAME', help: `${DOMAINS.join(', ')} (default: the only domain of the rules)`, choices: DOMAINS },
  rules: { type: 'string', value: RULES.join('|'), help: TITLES, required: true, choices: RULES },
  data: { type: 'string', value: 'DIR', help: 'folder (or zip) with the benchmark’s files', required: true },
} as const satisfies Flags;

const NAMES: readonly string[] = GENERATED.map(({ name }) => name);

const DERIVED = DOMAINS.flatMap((domain) =>
  importedLevels(domain).flatMap((level) => {
    const name = derivedName(domain, level);
    return name === undefined ? [] : [`${level}: ${domain} with bare signatures, reported as ${name}`];
  }),
).join('; ');

/** The level of the tasks of --data, for commands that take that of generated tasks elsewhere. */
export const IMPORTED_LEVEL_FLAG = {
  type: 'string',
  value: 'NAME',
  help: `level of --data: ${IMPORTED_LEVEL} (the default)${DERIVED === '' ? '' : `, or ${DERIVED}`}`,
  choices: IMPORTED_LEVELS,
} as const satisfies Flag;

/** The flags that choose a domain, generated or from a benchmark. */
export const PLACE_FLAGS = {
  domain: {
    ...DATA_FLAGS.domain,
    choices: [...new Set([...NAMES, ...DOMAINS])],
    help: `${NAMES.join(' or ')} for generated tasks; ${DOMAINS.join(', ')} for tasks of --data (default ${DEFAULT_DOMAIN})`,
  },
  level: {
    ...LEVEL,
    default: undefined,
    choices: [...new Set([...LEVELS, ...IMPORTED_LEVELS])],
    help: `${LEVEL.help} (default ${usualLevel(DEFAULT_DOMAIN)}); with --data ${IMPORTED_LEVELS.join(' or ')} (${DERIVED})`,
  },
  rules: {
    ...DATA_FLAGS.rules,
    required: false,
    help: `rules of conversation, tools and rewards: ${TITLES}; needs --data`,
  },
  data: {
    ...DATA_FLAGS.data,
    required: false,
    help: 'folder (or zip) with the benchmark’s files; its tasks are used instead of generated ones',
  },
} as const satisfies Flags;

export interface BenchmarkData {
  domain: string;
  rules: Benchmark;
  /** For each file: the path that the importer uses, and the path on disk. */
  files: [path: string, file: string][];
}

/** @throws UsageError */
export async function findData({ domain: wanted, rules, data }: Values<typeof DATA_FLAGS>): Promise<BenchmarkData> {
  const domains = benchmarkNamed(rules).domains.map(({ name }) => name);
  const domain = wanted ?? (domains.length === 1 ? domains[0]! : undefined);
  if (domain === undefined) throw new UsageError(`--domain is missing: ${rules} has ${domains.join(', ')}`);
  if (!domains.includes(domain)) throw new UsageError(`--domain is "${domain}": ${rules} has ${domains.join(', ')}`);
  return { domain, rules, files: await dataFiles(data) };
}

/** The files of a benchmark: for each one, the path that the importer uses, and the path on disk. @throws UsageError */
export async function dataFiles(data: string): Promise<BenchmarkData['files']> {
  const info = await stat(data).catch((error) => {
    throw new UsageError(`--data is "${data}": ${reason(error)}`);
  });
  if (!info.isDirectory() && !(info.isFile() && data.endsWith('.zip')))
    throw new UsageError(`--data is "${data}": expected a folder or a .zip file`);
  return info.isDirectory() ? await listFiles(data) : [[basename(data), data]];
}

/** The benchmark that `PLACE_FLAGS` name. Undefined for a generated domain. @throws UsageError */
export async function findPlaceData({
  domain: wanted,
  level,
  rules,
  data,
}: Partial<Values<typeof PLACE_FLAGS>>): Promise<BenchmarkData | undefined> {
  if (rules === undefined && data !== undefined) throw new UsageError(`--data is given: expected --rules ${RULES.join(' or ')} with it`);
  if (rules !== undefined && data === undefined) throw new UsageError('--rules is given: expected --data DIR with it');
  if (rules === undefined || data === undefined) {
    const domain = wanted ?? DEFAULT_DOMAIN;
    if (!GENERATED.some(({ name }) => name === domain))
      throw new UsageError(`--domain is "${domain}": without --rules and --data, expected ${NAMES.join(' or ')}`);
    return undefined;
  }
  // Of a benchmark with several domains, the usual one is that of the generated tasks.
  const several = benchmarkNamed(rules).domains.length > 1;
  const found = await findData({ domain: wanted ?? (several ? DEFAULT_DOMAIN : undefined), rules, data });
  const levels = importedLevels(found.domain);
  if (level !== undefined && !levels.includes(level))
    throw new UsageError(`--level is "${level}": expected ${levels.join(' or ')} for the tasks of --data`);
  return found;
}

/** A hash of the paths and contents of the files. A run goes on with its tasks only while the hash is the same. */
export async function filesSha256({ files }: Pick<BenchmarkData, 'files'>): Promise<string> {
  const hashes: string[] = [];
  for (const [path, file] of files) hashes.push(`${path} ${await fileSha256(file)}`);
  return sha256(hashes.sort().join('\n'));
}

const DEPTH = 8;

/** All files in a folder and its subfolders. Links are not followed. */
async function listFiles(root: string, folder = root, depth = 0): Promise<[string, string][]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return depth < DEPTH && !/^(\.|node_modules$)/.test(entry.name) ? listFiles(root, path, depth + 1) : [];
      return entry.isFile() ? [[relative(root, path).split(sep).join('/'), path] satisfies [string, string]] : [];
    }),
  );
  return lists.flat();
}
