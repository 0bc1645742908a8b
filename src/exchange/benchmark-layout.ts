/** @file Which benchmark and domain a folder holds, told by the names of its files. */
import type { Benchmark, ExactDomain } from '../environments/exact/types.ts';

export type DomainName = ExactDomain['name'];

/** A folder with a domain's data: its files by name, each with its path. */
export interface Candidate {
  benchmark: Benchmark;
  folder: string;
  /** Known from the files' names; tau2's is told by the database itself, elsewhere. */
  domain: DomainName | null;
  files: ReadonlyMap<string, string>;
}

/** tau-bench keeps a file per table. */
export const TAU1_TABLES = { airline: ['flights', 'reservations', 'users'], retail: ['orders', 'products', 'users'] } as const;
/** tau2-bench keeps one file, whose keys tell the domain. */
export const TAU2_TABLES = {
  airline: ['flights', 'reservations', 'users'], retail: ['orders', 'products', 'users'],
  mock: ['tasks', 'users'], telecom: ['plans', 'customers', 'lines', 'bills', 'devices'],
} as const;

/** Folders below which a repository keeps what we don't read: results, dependencies. */
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
    const domain = (['airline', 'retail'] as const).find((name) => TAU1_TABLES[name].some((table) => table !== 'users' && files.has(`${table}.json`)));
    if (!domain) return [];
    // tau-bench's repository keeps the tables in `data/`, policy and tasks beside that folder.
    const parent = /(^|\/)data$/.test(folder) ? folders.get(folder.replace(/\/?data$/, '')) : undefined;
    return [{ benchmark: 'tau1', folder, domain, files: new Map([...(parent ?? []), ...files]) }];
  });
}
