/**
 * @file Imports domains of tau-bench and tau2-bench from the files of their repositories: reads and checks databases, tasks,
 * splits and policy. Stores nothing; `database.ts` does.
 */
import type { Benchmark } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import { exactDomain } from '../exact-domains.ts';
import { orderedEntries } from '../../domains/exact/ordered-json.ts';
import { LIMITS, openFiles, type BenchmarkFiles, type ImportLimits } from '../../exchange/file-source.ts';
import { check, ImportError } from '../../exchange/import-error.ts';
import type { ImportedBenchmark } from '../imported-benchmark.ts';
import { TAU1_RECORDS } from '../tau1/record-schemas.ts';
import { tau1Tasks } from '../tau1/task-files.ts';
import { tau2Tasks } from '../tau2/task-files.ts';
import { choose, type Chosen, databaseFile, nothingFound, recognise, several, unknownDatabase } from './choose-domain.ts';
import { findCandidates, type Candidate, type DomainName } from './folders.ts';
import { Files, type ImportOptions } from './read-files.ts';

/** Imports the one domain that fits the options. @throws {ImportError} naming file, JSON path and reason */
export async function importBenchmark(source: BenchmarkFiles, options: ImportOptions = {}): Promise<ImportedBenchmark> {
  const { paths, read } = await openFiles(source, { ...LIMITS, ...options.limits });
  const files = new Files(read, options);
  const chosen = await choose(findCandidates(paths), files, options);
  files.plan(chosen.candidate.files.size);
  const imported = await readDomain(chosen, files, options);
  files.finish();
  return imported;
}

/** Imports all domains in the files. Skips databases of unknown domains, if there is a known one. @throws {ImportError} naming the first fault */
export async function importBenchmarks(
  source: BenchmarkFiles,
  options: Omit<ImportOptions, 'benchmark' | 'domain'> = {},
): Promise<ImportedBenchmark[]> {
  const { paths, read } = await openFiles(source, { ...LIMITS, ...options.limits });
  const files = new Files(read, options);
  const found: Chosen[] = [];
  const unknown: Candidate[] = [];
  for (const candidate of findCandidates(paths)) {
    const chosen = await recognise(candidate, files);
    if (chosen) found.push(chosen);
    else unknown.push(candidate);
  }
  if (!found.length) throw unknown.length ? unknownDatabase(unknown[0]!) : nothingFound(options, []);
  const twice = found.filter((a) => found.some((b) => b !== a && b.domain === a.domain && b.candidate.benchmark === a.candidate.benchmark));
  if (twice.length) throw several(twice);
  files.plan(found.reduce((sum, { candidate }) => sum + candidate.files.size, 0));
  const imported: ImportedBenchmark[] = [];
  for (const chosen of found) imported.push(await readDomain(chosen, files, options));
  files.finish();
  return imported;
}

async function readDomain({ candidate, domain, database }: Chosen, files: Files, options: ImportOptions): Promise<ImportedBenchmark> {
  const { benchmark } = candidate;
  const userFile = benchmark === 'tau2' ? ['user_db.toml', 'user_db.json'].find((name) => candidate.files.has(name)) : undefined;
  const userDatabase = userFile === undefined ? undefined : await files.database(candidate.files.get(userFile)!);
  checkTables(candidate, domain, database, { ...LIMITS, ...options.limits });
  const tables = load(candidate, domain, database, userDatabase);
  const { tasks, splits, absent } =
    benchmark === 'tau1' ? await tau1Tasks(candidate.files, files) : await tau2Tasks(candidate.files, files);
  const policy = await readPolicy(candidate, domain, files);
  for (const need of options.needs ?? ['tasks', 'policy']) {
    if (need === 'tasks' ? tasks.length === 0 : policy === '')
      throw new ImportError(
        candidate.folder || 'the files',
        '',
        `there is no ${need === 'tasks' ? taskFile(benchmark) : policyFiles(benchmark, domain).join(' or ')}`,
      );
  }
  return { benchmark, domain, database, ...(userDatabase !== undefined && { userDatabase }), tables, tasks, splits, absent, policy };
}

const fileOfTable = (candidate: Candidate, table: string) =>
  candidate.benchmark === 'tau1' ? candidate.files.get(`${table}.json`)! : databaseFile(candidate);

/** Checks the sizes of tables, and the records of tau-bench. */
function checkTables(candidate: Candidate, domain: DomainName, database: Json, limits: ImportLimits): void {
  for (const [table, records] of Object.entries(database as Record<string, Json>)) {
    const file = fileOfTable(candidate, table);
    const base = candidate.benchmark === 'tau1' ? [] : [table];
    const size = records !== null && typeof records === 'object' ? Object.keys(records).length : 0;
    if (size > limits.rows) throw new ImportError(file, base.join('.'), `the table has ${size} rows: at most ${limits.rows} are allowed`);
    const schema = candidate.benchmark === 'tau1' ? TAU1_RECORDS[domain as 'airline' | 'retail'][table] : undefined;
    if (schema) for (const [key, record] of entriesOf(file, records)) check(schema, record, file, [...base, key]);
  }
}

function entriesOf(file: string, records: Json): [string, Json][] {
  try {
    return orderedEntries(records, '');
  } catch {
    throw new ImportError(file, '', 'expected an object of records by id');
  }
}

/** The rows of the databases. The domain's own readers check tau2's records; their messages name the path. */
function load({ benchmark, files }: Candidate, domain: DomainName, database: Json, userDatabase: Json | undefined) {
  try {
    return exactDomain(domain, benchmark).load(database, userDatabase);
  } catch (cause) {
    const { message } = cause as Error;
    const [, rest = message] = /^(?:\w+: |user_db\.|db\.)(.*)$/.exec(message) ?? [];
    const [, path = '', reason = rest] = /^(\S+?):? (.*)$/.exec(rest) ?? [];
    const table = path.split('.')[0]!;
    const ofUser = message.startsWith('user_db') || (!Object.hasOwn(database as object, table) && userDatabase !== undefined);
    const file =
      benchmark === 'tau1'
        ? (files.get(`${table}.json`) ?? '')
        : ofUser
          ? (files.get('user_db.toml') ?? files.get('user_db.json')!)
          : databaseFile({ files } as Candidate);
    throw new ImportError(file, benchmark === 'tau1' ? path.split('.').slice(1).join('.') : path, reason);
  }
}

const taskFile = (benchmark: Benchmark) => (benchmark === 'tau1' ? 'tasks_test.json' : 'tasks.json');

const policyFiles = (benchmark: Benchmark, domain: DomainName) =>
  benchmark === 'tau1' ? ['wiki.md'] : domain === 'telecom' ? ['main_policy.md', 'policy.md'] : ['policy.md'];

/** The policy, '' if there is no file. Telecom's policy consists of two files, which upstream joins in this way. */
async function readPolicy({ benchmark, files: named }: Candidate, domain: DomainName, files: Files): Promise<string> {
  const name = policyFiles(benchmark, domain).find((file) => named.has(file));
  if (name === undefined) return '';
  const policy = await files.text(named.get(name)!);
  const manual = named.get('tech_support_manual.md');
  if (name !== 'main_policy.md' || manual === undefined) return policy;
  return `<main_policy>\n${policy}\n</main_policy>\n<tech_support_policy>\n${await files.text(manual)}\n</tech_support_policy>`;
}
