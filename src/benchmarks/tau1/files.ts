/** @file The data files of tau-bench: one file for each table, one file for each split, and the policy in `wiki.md`. */
import { ImportError, check } from '../../exchange/import-error.ts';
import type { Json } from '../../records/json.ts';
import type { BenchmarkFiles } from '../definition.ts';
import { checkSize, exactNamed, loadRows, recordsOf } from '../tau/tables.ts';
import { TAU1_DOMAINS } from './domains.ts';
import type { Tau1Task } from './task.ts';

/** The tables of each domain. Each one is in a file `<table>.json`. */
const TABLES = { airline: ['flights', 'reservations', 'users'], retail: ['orders', 'products', 'users'] } as const;
type Name = keyof typeof TABLES;
const NAMES = Object.keys(TABLES) as Name[];
const POLICY = 'wiki.md';

const filesOf = (name: Name) => TABLES[name].map((table) => `${table}.json`).join(', ');

export const tau1Files: BenchmarkFiles<Tau1Task> = {
  help: '`users.json`, `orders.json`, `products.json` or `flights.json`, `reservations.json`, `users.json`, with `wiki.md` and the tasks: `tasks_test.py`, `tasks_train.py`, … of the repository, which are read and not run, or the same as `.json`.',
  expected: (domain) =>
    NAMES.filter((name) => domain === undefined || !NAMES.includes(domain as Name) || name === domain)
      .map(filesOf)
      .join(' or '),
  find({ path, files, above }) {
    const domain = NAMES.find((name) => TABLES[name].some((table) => table !== 'users' && files.has(`${table}.json`)));
    if (!domain) return null;
    // In tau-bench's repository, the tables are in `data/`; the policy and the tasks are in its parent folder.
    return { domain, files: /(^|\/)data$/.test(path) ? new Map([...above, ...files]) : files };
  },
  async open({ folder, domain, files: named }, files) {
    const name = domain as Name;
    const database: Record<string, Json> = {};
    for (const table of TABLES[name]) {
      const path = named.get(`${table}.json`);
      if (path === undefined)
        throw new ImportError(folder || 'the files', '', `${table}.json is missing: tau-bench's ${name} has ${TABLES[name].join(', ')}`);
      database[table] = await files.database(path);
    }
    return { domain: name, database };
  },
  async read({ candidate: { files: named }, domain, database }, files, limits) {
    const [{ TAU1_RECORDS }, { tau1Tasks }] = await Promise.all([import('./record-schemas.ts'), import('./task-files.ts')]);
    for (const [table, records] of Object.entries(database as Record<string, Json>)) {
      const file = named.get(`${table}.json`)!;
      checkSize(records, limits, file, '');
      const schema = TAU1_RECORDS[domain as Name][table]!;
      for (const [key, record] of recordsOf(file, records)) check(schema, record, file, [key]);
    }
    const tables = loadRows(exactNamed(TAU1_DOMAINS, domain), database, undefined, (path, table) => [
      named.get(`${table}.json`) ?? '',
      path.split('.').slice(1).join('.'),
    ]);
    const policy = named.get(POLICY);
    return { tables, ...(await tau1Tasks(named, files)), policy: policy === undefined ? '' : await files.text(policy) };
  },
  fileOf: (part) => (part === 'tasks' ? 'tasks_test.py and no tasks_test.json' : POLICY),
};
