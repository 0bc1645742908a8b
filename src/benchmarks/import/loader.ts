/**
 * @file Loads imported benchmarks for the environments. These need them at the start of every episode, so each import is read
 * only once.
 */
import { type ImportedBenchmark, importedName, type LoadBenchmark } from '../imported-benchmark.ts';
import { BenchmarkDatabase } from './database.ts';

/** Makes a function that loads the newest import of a domain. */
export function benchmarkLoader(database = new BenchmarkDatabase()): LoadBenchmark {
  const imports = new Map<string, Promise<ImportedBenchmark>>();
  const times = new Map<string, number>();

  async function newest(ids: string[]): Promise<string | undefined> {
    if (ids.length < 2) return ids[0];
    // A row contains all tasks and is slow to read, so each row is read only once.
    for (const id of ids) if (!times.has(id)) times.set(id, (await database.benchmarks.get(id))?.importedAt ?? 0);
    return ids.reduce((a, b) => (times.get(b)! > times.get(a)! ? b : a));
  }

  return async (benchmark, domain) => {
    const id = await newest(await database.benchmarks.where('[benchmark+domain]').equals([benchmark, domain]).primaryKeys());
    if (id === undefined) throw new Error(`domain: '${importedName(benchmark, domain)}' has not been imported in this browser`);
    let imported = imports.get(id);
    if (!imported) {
      imported = database.read(id);
      imports.set(id, imported);
      imported.catch(() => imports.delete(id));
    }
    return { id, imported: await imported };
  };
}
