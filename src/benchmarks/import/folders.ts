/** @file Finds folders with a benchmark's data by the names of their files. */
import type { Benchmark } from '../../records/benchmark-task.ts';
import type { ExactDomain } from '../../domains/exact/types.ts';

export type DomainName = ExactDomain['name'];

/** A folder with a domain's data. */
export interface Candidate {
  benchmark: Benchmark;
  folder: string;
  /** Known from the names of the files. Null for tau2: its database must be read. */
  domain: DomainName | null;
  /** Paths by file name. */
  files: ReadonlyMap<string, string>;
}

/** tau-bench has one file for each table. */
export const TAU1_TABLES = { airline: ['flights', 'reservations', 'users'], retail: ['orders', 'products', 'users'] } as const;
/** tau2-bench has one database file. Its keys are the tables. */
export const TAU2_TABLES = {
  airline: ['flights', 'reservations', 'users'],
  retail: ['orders', 'products', 'users'],
  mock: ['tasks', 'users'],
  telecom: ['plans', 'customers', 'lines', 'bills', 'devices'],
} as const;

/** Folders without benchmark data. */
const IGNORED = /(^|\/)(node_modules|\.git|__MACOSX)\//;

export function findCandidates(paths: readonly string[]): Candidate[] {
  const folders = new Map<string, Map<string, string>>();
  for (const path of paths) {
    if (IGNORED.test(path)) continue;
    const at = path.lastIndexOf('/');
    const folder = path.slice(0, Math.max(0, at));
    let files = folders.get(folder);
    if (!files) folders.set(folder, (files = new Map()));
    files.set(path.slice(at + 1), path);
  }
  return [...folders].flatMap(([folder, files]): Candidate[] => {
    if (files.has('db.json') || files.has('db.toml')) return [{ benchmark: 'tau2', folder, domain: null, files }];
    const domain = (['airline', 'retail'] as const).find((name) =>
      TAU1_TABLES[name].some((table) => table !== 'users' && files.has(`${table}.json`)),
    );
    if (!domain) return [];
    // In tau-bench's repository the tables are in `data/`, policy and tasks in the folder above.
    const parent = /(^|\/)data$/.test(folder) ? folders.get(folder.replace(/\/?data$/, '')) : undefined;
    return [{ benchmark: 'tau1', folder, domain, files: new Map([...(parent ?? []), ...files]) }];
  });
}
