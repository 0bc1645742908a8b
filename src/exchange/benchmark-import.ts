/**
 * @file Imports a domain of tau-bench v1 or tau2-bench from the files of its repository: databases, tasks, splits and
 * policy, all checked. What is returned is whole; nothing is stored here (see `storage/benchmarks.ts`).
 */
import type { Benchmark } from '../environments/exact/types.ts';
import { exactDomain } from '../environments/exact/domains.ts';
import { splitsSchema, tau1TasksSchema, tau2TasksSchema, type BenchmarkTask, type ImportedBenchmark, type Tau1Task, type Tau2Task } from '../environments/exact/benchmark-task.ts';
import { orderedEntries } from '../environments/exact/ordered-json.ts';
import type { Json } from '../environments/types.ts';
import { LIMITS, openFiles, type BenchmarkFiles, type FileReader, type ImportLimits } from './benchmark-files.ts';
import { findCandidates, TAU1_TABLES, TAU2_TABLES, type Candidate, type DomainName } from './benchmark-layout.ts';
import { decode, parseJson, parseToml } from './benchmark-parse.ts';
import { ImportError, check } from './import-error.ts';
import { TAU1_RECORDS } from './tau1-records.ts';

export interface ImportOptions {
  /** Which one to take where the files hold several. */
  benchmark?: Benchmark;
  domain?: DomainName;
  /** What has to be there beside the database; both when absent. What is not needed may be missing, and is then empty. */
  needs?: readonly ('tasks' | 'policy')[];
  limits?: Partial<ImportLimits>;
  onProgress?: (done: number, total: number, label: string) => void;
  signal?: AbortSignal;
}

/** The one domain that is meant. @throws {ImportError} naming file, JSON path and reason */
export async function importBenchmark(source: BenchmarkFiles, options: ImportOptions = {}): Promise<ImportedBenchmark> {
  const { paths, read } = await openFiles(source, { ...LIMITS, ...options.limits });
  const files = new Files(read, options);
  const chosen = await choose(findCandidates(paths), files, options);
  files.plan(chosen.candidate.files.size);
  const imported = await readDomain(chosen, files, options);
  files.finish();
  return imported;
}

/** Every domain that is in the files. Databases of domains not known here are passed over where there are others. @throws {ImportError} at the first fault in any */
export async function importBenchmarks(source: BenchmarkFiles, options: Omit<ImportOptions, 'benchmark' | 'domain'> = {}): Promise<ImportedBenchmark[]> {
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
  const { tasks, splits, absent } = benchmark === 'tau1' ? await tau1Tasks(candidate, files) : await tau2Tasks(candidate, files);
  const policy = await readPolicy(candidate, domain, files);
  for (const need of options.needs ?? ['tasks', 'policy']) {
    if (need === 'tasks' ? tasks.length === 0 : policy === '') throw new ImportError(candidate.folder || 'the files', '', `there is no ${need === 'tasks' ? taskFile(benchmark) : policyFiles(benchmark, domain).join(' or ')}`);
  }
  return { benchmark, domain, database, ...(userDatabase !== undefined && { userDatabase }), tables, tasks, splits, absent, policy };
}

/** Reads files, telling how far it is. */
class Files {
  private done = 0;
  private total = 0;

  constructor(private readonly reader: FileReader, private readonly options: ImportOptions) {}

  plan(total: number): void {
    this.total = Math.max(total, this.done + 1);
  }

  async text(path: string): Promise<string> {
    this.options.signal?.throwIfAborted();
    this.options.onProgress?.(this.done++, Math.max(this.total, this.done + 1), path);
    return decode(path, await this.reader(path));
  }

  async json(path: string): Promise<Json> {
    return parseJson(path, await this.text(path));
  }

  async database(path: string): Promise<Json> {
    const text = await this.text(path);
    return path.endsWith('.toml') ? parseToml(path, text) : parseJson(path, text, true);
  }

  finish(): void {
    this.options.onProgress?.(this.done, this.done, 'done');
  }
}

interface Chosen { candidate: Candidate; domain: DomainName; database: Json }

/** The one folder that fits. Databases of tau2 are read to tell their domains, those in a folder of the wanted name first. */
async function choose(all: readonly Candidate[], files: Files, options: ImportOptions): Promise<Chosen> {
  const { benchmark, domain } = options;
  const wanted = all.filter((candidate) => (benchmark === undefined || candidate.benchmark === benchmark) && (domain === undefined || candidate.domain === null || candidate.domain === domain));
  const named = domain === undefined ? [] : wanted.filter(({ folder }) => folder.split('/').includes(domain));
  const found: Chosen[] = [];
  const others = new Set<string>();
  for (const candidate of named.length ? named : wanted) {
    const chosen = await recognise(candidate, files);
    if (!chosen) throw unknownDatabase(candidate);
    if (domain === undefined || chosen.domain === domain) found.push(chosen);
    else others.add(chosen.domain);
  }
  if (found.length === 1) return found[0]!;
  throw found.length ? several(found) : nothingFound(options, [...others]);
}

function nothingFound({ benchmark, domain }: ImportOptions, others: readonly string[]): ImportError {
  const kind = `${benchmark === 'tau1' ? 'tau-bench ' : benchmark === 'tau2' ? 'tau2-bench ' : ''}${domain ?? ''}`.trim();
  return new ImportError('', '', `there is no ${kind ? `${kind} data` : 'tau-bench or tau2-bench data'} here${others.length ? `, but ${others.join(', ')}` : ''}: expected a folder with ${expectedFiles(benchmark, domain)}`);
}

const several = (found: readonly Chosen[]) =>
  new ImportError('', '', `there are several: ${found.map(({ candidate, domain: name }) => `${candidate.benchmark} ${name} (${candidate.folder || 'the top folder'})`).join(', ')}; choose one`);

function expectedFiles(benchmark: Benchmark | undefined, domain: DomainName | undefined): string {
  const tables = (name: 'airline' | 'retail') => TAU1_TABLES[name].map((table) => `${table}.json`).join(', ');
  if (benchmark === 'tau1') return domain === 'airline' || domain === 'retail' ? tables(domain) : `${tables('airline')} or ${tables('retail')}`;
  return benchmark === 'tau2' ? 'db.json or db.toml' : `db.json, db.toml, ${tables('airline')} or ${tables('retail')}`;
}

/** Null for the database of a domain that is not known here. */
async function recognise(candidate: Candidate, files: Files): Promise<Chosen | null> {
  if (candidate.domain !== null) {
    const database: Record<string, Json> = {};
    for (const table of TAU1_TABLES[candidate.domain as 'airline' | 'retail']) {
      const path = candidate.files.get(`${table}.json`);
      if (path === undefined) throw new ImportError(candidate.folder || 'the files', '', `${table}.json is missing: tau-bench's ${candidate.domain} has ${TAU1_TABLES[candidate.domain as 'airline'].join(', ')}`);
      database[table] = await files.database(path);
    }
    return { candidate, domain: candidate.domain, database };
  }
  const path = databaseFile(candidate);
  const database = await files.database(path);
  const has = (table: string) => database !== null && typeof database === 'object' && !Array.isArray(database) && Object.hasOwn(database, table);
  const domain = TAU2_NAMES.find((name) => TAU2_TABLES[name].every(has)) ?? TAU2_NAMES.find((name) => TAU2_TABLES[name].some((table) => table !== 'users' && has(table)));
  return domain ? { candidate, domain, database } : null;
}

const TAU2_NAMES = Object.keys(TAU2_TABLES) as DomainName[];
const unknownDatabase = (candidate: Candidate) =>
  new ImportError(databaseFile(candidate), '', `it is the database of no domain known here: expected the tables of ${TAU2_NAMES.map((name) => `${name} (${TAU2_TABLES[name].join(', ')})`).join(', ')}`);
const databaseFile = ({ files }: Candidate) => (files.get('db.json') ?? files.get('db.toml'))!;
const fileOfTable = (candidate: Candidate, table: string) => (candidate.benchmark === 'tau1' ? candidate.files.get(`${table}.json`)! : databaseFile(candidate));

/** Sizes of tables, and the records of tau-bench v1. */
function checkTables(candidate: Candidate, domain: DomainName, database: Json, limits: ImportLimits): void {
  for (const [table, records] of Object.entries(database as Record<string, Json>)) {
    const file = fileOfTable(candidate, table);
    const base = candidate.benchmark === 'tau1' ? [] : [table];
    const size = records !== null && typeof records === 'object' ? Object.keys(records).length : 0;
    if (size > limits.rows) throw new ImportError(file, base.join('.'), `the table has ${size} rows: at most ${limits.rows} are taken`);
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

/** Rows of the databases. The domain's own readers check tau2's records, and name the path. */
function load({ benchmark, files }: Candidate, domain: DomainName, database: Json, userDatabase: Json | undefined) {
  try {
    return exactDomain(domain, benchmark).load(database, userDatabase);
  } catch (cause) {
    const { message } = cause as Error;
    const [, rest = message] = /^(?:\w+: |user_db\.|db\.)(.*)$/.exec(message) ?? [];
    const [, path = '', reason = rest] = /^(\S+?):? (.*)$/.exec(rest) ?? [];
    const table = path.split('.')[0]!;
    const ofUser = message.startsWith('user_db') || (!Object.hasOwn(database as object, table) && userDatabase !== undefined);
    const file = benchmark === 'tau1' ? (files.get(`${table}.json`) ?? '') : ofUser ? (files.get('user_db.toml') ?? files.get('user_db.json')!) : databaseFile({ files } as Candidate);
    throw new ImportError(file, benchmark === 'tau1' ? path.split('.').slice(1).join('.') : path, reason);
  }
}

interface Tasks { tasks: BenchmarkTask[]; splits: Record<string, string[]>; absent: Record<string, number> }

/** `tasks_test.json`, `tasks_train.json`, …: a split each. A file `tasks.json` is the test split, which most results are of. */
async function tau1Tasks({ files: named }: Candidate, files: Files): Promise<Tasks> {
  const splits = new Map<string, Tau1Task[]>();
  for (const [name, path] of named) {
    const split = name === 'tasks.json' ? 'test' : /^tasks_(\w+)\.json$/.exec(name)?.[1];
    if (split === undefined) continue;
    const tasks = check<Omit<Tau1Task, 'id'>[]>(tau1TasksSchema, await files.json(path), path);
    splits.set(split, tasks.map((task, i) => ({ ...task, id: `${split}/${i}` })));
  }
  return { tasks: [...splits.values()].flat(), splits: Object.fromEntries([...splits].map(([split, tasks]) => [split, tasks.map(({ id }) => id)])), absent: {} };
}

/** `tasks.json`, and where they are here the larger and smaller sets that `split_tasks.json` picks from. */
async function tau2Tasks({ files: named }: Candidate, files: Files): Promise<Tasks> {
  const tasks = new Map<string, Tau2Task>();
  for (const name of ['tasks.json', 'tasks_small.json', 'tasks_full.json']) {
    const path = named.get(name);
    if (path === undefined) continue;
    const seen = new Set<string>();
    check<Tau2Task[]>(tau2TasksSchema, await files.json(path), path).forEach((task, i) => {
      if (seen.has(task.id)) throw new ImportError(path, `[${i}].id`, `'${task.id}' is the id of an earlier task`);
      seen.add(task.id);
      if (!tasks.has(task.id)) tasks.set(task.id, task);
    });
  }
  const splitFile = named.get('split_tasks.json');
  const named2 = splitFile === undefined ? { base: [...tasks.keys()] } : check<Record<string, string[]>>(splitsSchema, await files.json(splitFile), splitFile);
  const splits = Object.entries(named2).map(([split, ids]): [string, string[]] => [split, ids.filter((id) => tasks.has(id))]);
  const absent = splits.flatMap(([split, ids]): [string, number][] => (ids.length < named2[split]!.length ? [[split, named2[split]!.length - ids.length]] : []));
  return { tasks: [...tasks.values()], splits: Object.fromEntries(splits), absent: Object.fromEntries(absent) };
}

const taskFile = (benchmark: Benchmark) => (benchmark === 'tau1' ? 'tasks_test.json' : 'tasks.json');

const policyFiles = (benchmark: Benchmark, domain: DomainName) =>
  benchmark === 'tau1' ? ['wiki.md'] : domain === 'telecom' ? ['main_policy.md', 'policy.md'] : ['policy.md'];

/** Telecom's policy is two files, joined as upstream joins them. */
async function readPolicy({ benchmark, files: named }: Candidate, domain: DomainName, files: Files): Promise<string> {
  const name = policyFiles(benchmark, domain).find((file) => named.has(file));
  if (name === undefined) return '';
  const policy = await files.text(named.get(name)!);
  const manual = named.get('tech_support_manual.md');
  if (name !== 'main_policy.md' || manual === undefined) return policy;
  return `<main_policy>\n${policy}\n</main_policy>\n<tech_support_policy>\n${await files.text(manual)}\n</tech_support_policy>`;
}
