/** @file Chooses one of the folders that contain a benchmark's data. */
import { ImportError } from '../../exchange/import-error.ts';
import type { Candidate, Chosen } from '../definition.ts';
import { BENCHMARKS } from '../index.ts';
import { benchmarkNamed } from '../named.ts';
import type { Files, ImportOptions } from './read-files.ts';

/**
 * Finds the only folder that fits the options. If the names of some folders' files show the wanted domain, only these folders
 * are read.
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
    if (domain === undefined || chosen.domain === domain) found.push(chosen);
    else others.add(chosen.domain);
  }
  if (found.length === 1) return found[0]!;
  throw found.length ? several(found) : nothingFound(options, [...others]);
}

/** Reads the database to find its domain. @throws {UnknownDomain} if the domain is unknown; {ImportError} on a broken database */
export async function recognise(candidate: Candidate, files: Files): Promise<Chosen> {
  return { candidate, ...(await benchmarkNamed(candidate.benchmark).files.open(candidate, files)) };
}

export function nothingFound({ benchmark, domain }: ImportOptions, others: readonly string[]): ImportError {
  const asked = benchmark === undefined ? BENCHMARKS : [benchmarkNamed(benchmark)];
  const titles = asked.map(({ title }) => title).join(' or ');
  const kind = benchmark === undefined ? (domain ?? titles) : `${titles} ${domain ?? ''}`.trim();
  const having = asked.filter(({ domains }) => domain === undefined || domains.some(({ name }) => name === domain));
  const expected = (having.length ? having : asked).map(({ files }) => files.expected(domain)).join(' or ');
  const instead = others.length ? `, but ${others.join(', ')}` : '';
  return new ImportError('', '', `there is no ${kind} data here${instead}: expected a folder with ${expected}`);
}

export const several = (found: readonly Chosen[]) =>
  new ImportError(
    '',
    '',
    `there is more than one domain: ${found.map(({ candidate, domain: name }) => `${candidate.benchmark} ${name} (${candidate.folder || 'the top folder'})`).join(', ')}; choose one`,
  );
