/** @file Chooses among the folders with a benchmark's data. */
import type { Benchmark } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { type Candidate, type DomainName, TAU1_TABLES, TAU2_TABLES } from './folders.ts';
import type { Files, ImportOptions } from './read-files.ts';

/** A folder whose domain is known. */
export interface Chosen {
  candidate: Candidate;
  domain: DomainName;
  database: Json;
}

/**
 * The one folder that fits the options. A tau2 database must be read to find out its domain. Only folders with the wanted
 * domain's name are read, if there are any.
 * @throws {ImportError} if no folder fits, or more than one
 */
export async function choose(all: readonly Candidate[], files: Files, options: ImportOptions): Promise<Chosen> {
  const { benchmark, domain } = options;
  const wanted = all.filter(
    (candidate) =>
      (benchmark === undefined || candidate.benchmark === benchmark) &&
      (domain === undefined || candidate.domain === null || candidate.domain === domain),
  );
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

export function nothingFound({ benchmark, domain }: ImportOptions, others: readonly string[]): ImportError {
  const kind = `${benchmark === 'tau1' ? 'tau-bench ' : benchmark === 'tau2' ? 'tau2-bench ' : ''}${domain ?? ''}`.trim();
  return new ImportError(
    '',
    '',
    `there is no ${kind ? `${kind} data` : 'tau-bench or tau2-bench data'} here${others.length ? `, but ${others.join(', ')}` : ''}: expected a folder with ${expectedFiles(benchmark, domain)}`,
  );
}

export const several = (found: readonly Chosen[]) =>
  new ImportError(
    '',
    '',
    `there is more than one domain: ${found.map(({ candidate, domain: name }) => `${candidate.benchmark} ${name} (${candidate.folder || 'the top folder'})`).join(', ')}; choose one`,
  );

function expectedFiles(benchmark: Benchmark | undefined, domain: DomainName | undefined): string {
  const tables = (name: 'airline' | 'retail') => TAU1_TABLES[name].map((table) => `${table}.json`).join(', ');
  if (benchmark === 'tau1')
    return domain === 'airline' || domain === 'retail' ? tables(domain) : `${tables('airline')} or ${tables('retail')}`;
  return benchmark === 'tau2' ? 'db.json or db.toml' : `db.json, db.toml, ${tables('airline')} or ${tables('retail')}`;
}

/** Reads the database and finds out its domain. Null if the domain is unknown. @throws {ImportError} on a broken database */
export async function recognise(candidate: Candidate, files: Files): Promise<Chosen | null> {
  if (candidate.domain !== null) {
    const database: Record<string, Json> = {};
    for (const table of TAU1_TABLES[candidate.domain as 'airline' | 'retail']) {
      const path = candidate.files.get(`${table}.json`);
      if (path === undefined)
        throw new ImportError(
          candidate.folder || 'the files',
          '',
          `${table}.json is missing: tau-bench's ${candidate.domain} has ${TAU1_TABLES[candidate.domain as 'airline'].join(', ')}`,
        );
      database[table] = await files.database(path);
    }
    return { candidate, domain: candidate.domain, database };
  }
  const path = databaseFile(candidate);
  const database = await files.database(path);
  const has = (table: string) =>
    database !== null && typeof database === 'object' && !Array.isArray(database) && Object.hasOwn(database, table);
  const domain =
    TAU2_NAMES.find((name) => TAU2_TABLES[name].every(has)) ??
    TAU2_NAMES.find((name) => TAU2_TABLES[name].some((table) => table !== 'users' && has(table)));
  return domain ? { candidate, domain, database } : null;
}

const TAU2_NAMES = Object.keys(TAU2_TABLES) as DomainName[];
export const unknownDatabase = (candidate: Candidate) =>
  new ImportError(
    databaseFile(candidate),
    '',
    `its tables belong to no known domain: expected the tables of ${TAU2_NAMES.map((name) => `${name} (${TAU2_TABLES[name].join(', ')})`).join(', ')}`,
  );
export const databaseFile = ({ files }: Candidate) => (files.get('db.json') ?? files.get('db.toml'))!;
