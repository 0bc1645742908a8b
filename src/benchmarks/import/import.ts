/**
 * @file Imports domains of benchmarks from the files of their repositories. The folder of each benchmark contains the code
 * that knows its files. Nothing is stored here; `database.ts` does this.
 */
import { LIMITS, openFiles, type BenchmarkFiles } from '../../exchange/file-source.ts';
import { ImportError } from '../../exchange/import-error.ts';
import type { Chosen } from '../definition.ts';
import type { ImportedBenchmark } from '../imported-benchmark.ts';
import { benchmarkNamed } from '../named.ts';
import { choose, nothingFound, recognise, several } from './choose-domain.ts';
import { findCandidates } from './folders.ts';
import { Files, type ImportOptions, UnknownDomain } from './read-files.ts';

/** Imports the only domain that fits the options. @throws {ImportError} that names the file, the JSON path and the reason */
export async function importBenchmark(source: BenchmarkFiles, options: ImportOptions = {}): Promise<ImportedBenchmark> {
  const { paths, read } = await openFiles(source, { ...LIMITS, ...options.limits });
  const files = new Files(read, options);
  const chosen = await choose(findCandidates(paths), files, options);
  files.plan(chosen.candidate.files.size);
  const imported = await readDomain(chosen, files, options);
  files.finish();
  return imported;
}

/**
 * Imports all domains in the files. Databases of unknown domains are skipped, if at least one domain is known.
 * @throws {ImportError} that names the first problem
 */
export async function importBenchmarks(
  source: BenchmarkFiles,
  options: Omit<ImportOptions, 'benchmark' | 'domain'> = {},
): Promise<ImportedBenchmark[]> {
  const { paths, read } = await openFiles(source, { ...LIMITS, ...options.limits });
  const files = new Files(read, options);
  const found: Chosen[] = [];
  const unknown: UnknownDomain[] = [];
  for (const candidate of findCandidates(paths)) {
    try {
      found.push(await recognise(candidate, files));
    } catch (cause) {
      if (!(cause instanceof UnknownDomain)) throw cause;
      unknown.push(cause);
    }
  }
  if (!found.length) throw unknown[0] ?? nothingFound(options, []);
  const twice = found.filter((a) => found.some((b) => b !== a && b.domain === a.domain && b.candidate.benchmark === a.candidate.benchmark));
  if (twice.length) throw several(twice);
  files.plan(found.reduce((sum, { candidate }) => sum + candidate.files.size, 0));
  const imported: ImportedBenchmark[] = [];
  for (const chosen of found) imported.push(await readDomain(chosen, files, options));
  files.finish();
  return imported;
}

async function readDomain(chosen: Chosen, files: Files, options: ImportOptions): Promise<ImportedBenchmark> {
  const { candidate, domain, database } = chosen;
  const { benchmark } = candidate;
  const format = benchmarkNamed(benchmark).files;
  const content = await format.read(chosen, files, { ...LIMITS, ...options.limits });
  for (const need of options.needs ?? ['tasks', 'policy']) {
    if (content[need].length === 0 && !(need === 'policy' && format.withoutPolicy))
      throw new ImportError(candidate.folder || 'the files', '', `there is no ${format.fileOf(need, domain)}`);
  }
  return { benchmark, domain, database, ...content };
}
