/** @file The data files of tau2-bench: a database, the user's database (only in some domains), tasks, splits and a policy. */
import type { Json } from '../../records/json.ts';
import type { BenchmarkFiles } from '../definition.ts';
import { type Files, UnknownDomain } from '../import/read-files.ts';
import { checkSize, exactNamed, loadRows } from '../tau/tables.ts';
import { TAU2_DOMAINS } from './domains.ts';
import type { Tau2Task } from './task.ts';
import { checkProject, PROJECT, projectOf } from './version.ts';

/** The tables of each domain. Their names are the keys of the database. */
const TABLES: Record<string, readonly string[]> = {
  airline: ['flights', 'reservations', 'users'],
  retail: ['orders', 'products', 'users'],
  mock: ['tasks', 'users'],
  telecom: ['plans', 'customers', 'lines', 'bills', 'devices'],
};
const NAMES = Object.keys(TABLES);
type Named = ReadonlyMap<string, string>;

const databaseFile = (named: Named) => (named.get('db.json') ?? named.get('db.toml'))!;
const userDatabaseFile = (named: Named) => named.get('user_db.toml') ?? named.get('user_db.json');
const policyFiles = (domain: string) => (domain === 'telecom' ? ['main_policy.md', 'policy.md'] : ['policy.md']);

export const tau2Files: BenchmarkFiles<Tau2Task> = {
  help: 'a folder of `data/tau2/domains` with `db.json` or `db.toml`, `tasks.json`, `policy.md`, and `split_tasks.json` and `user_db.toml` if the domain has them.',
  expected: () => 'db.json or db.toml',
  find(folder) {
    const { files } = folder;
    if (!files.has('db.json') && !files.has('db.toml')) return null;
    const project = projectOf(folder);
    return { domain: null, files: project === undefined ? files : new Map([...files, [PROJECT, project]]) };
  },
  async open({ files: named }, files) {
    const project = named.get(PROJECT);
    if (project !== undefined) checkProject(project, await files.text(project));
    const path = databaseFile(named);
    const database = await files.database(path);
    const has = (table: string) =>
      database !== null && typeof database === 'object' && !Array.isArray(database) && Object.hasOwn(database, table);
    const domain =
      NAMES.find((name) => TABLES[name]!.every(has)) ??
      NAMES.find((name) => TABLES[name]!.some((table) => table !== 'users' && has(table)));
    if (domain !== undefined) return { domain, database };
    const known = NAMES.map((name) => `${name} (${TABLES[name]!.join(', ')})`).join(', ');
    throw new UnknownDomain(path, '', `its tables belong to no known domain: expected the tables of ${known}`);
  },
  async read({ candidate: { files: named }, domain, database }, files, limits) {
    const { tau2Tasks } = await import('./task-files.ts');
    const userFile = userDatabaseFile(named);
    const userDatabase = userFile === undefined ? undefined : await files.database(userFile);
    const file = databaseFile(named);
    for (const [table, records] of Object.entries(database as Record<string, Json>)) checkSize(records, limits, file, table);
    const tables = loadRows(exactNamed(TAU2_DOMAINS, domain), database, userDatabase, (path, _, ofUser) => [
      ofUser ? (userFile ?? file) : file,
      path,
    ]);
    return {
      ...(userDatabase !== undefined && { userDatabase }),
      tables,
      ...(await tau2Tasks(named, files)),
      policy: await readPolicy(named, domain, files),
    };
  },
  fileOf: (part, domain) => (part === 'tasks' ? 'tasks.json' : policyFiles(domain).join(' or ')),
};

/** Reads the policy. '' if there is no file. Telecom's policy consists of two files, which are joined in the same way as upstream. */
async function readPolicy(named: Named, domain: string, files: Files): Promise<string> {
  const name = policyFiles(domain).find((file) => named.has(file));
  if (name === undefined) return '';
  const policy = await files.text(named.get(name)!);
  const manual = named.get('tech_support_manual.md');
  if (name !== 'main_policy.md' || manual === undefined) return policy;
  return `<main_policy>\n${policy}\n</main_policy>\n<tech_support_policy>\n${await files.text(manual)}\n</tech_support_policy>`;
}
