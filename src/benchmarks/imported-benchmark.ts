/** @file An imported domain of a benchmark. */
import type { Task } from '../records/task.ts';
import type { Benchmark, BenchmarkTask } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { WorldTables } from '../environments/overlay.ts';

/** The content of a domain's files. */
export interface ImportedBenchmark<Task extends BenchmarkTask = BenchmarkTask> {
  benchmark: Benchmark;
  domain: string;
  /** Objects whose keys look like integers are lists of `[key, value]` in the file's order (`parseOrdered`). */
  database: Json;
  userDatabase?: Json;
  /** The rows of both databases, from `BenchmarkDomain.load`. */
  tables: WorldTables;
  tasks: Task[];
  /** Task ids by split. Contains only ids of `tasks`. */
  splits: Record<string, string[]>;
  /** The number of tasks that the files do not contain, for each incomplete split. */
  absent: Record<string, number>;
  policy: string;
}

export type ImportedTasks<Task extends BenchmarkTask = BenchmarkTask> = Pick<ImportedBenchmark<Task>, 'tasks' | 'splits' | 'absent'>;

/** A stored import. `id` identifies the content and is also the id of its world. */
export interface LoadedBenchmark {
  id: string;
  imported: ImportedBenchmark;
}

/** Called at every start of an episode. @throws if this benchmark's domain was not imported */
export type LoadBenchmark = (benchmark: Benchmark, domain: string) => Promise<LoadedBenchmark>;

/** The only level of an imported domain. */
export const IMPORTED_LEVEL = 'full';

/** The name under which an imported domain is registered. */
export const importedName = (benchmark: Benchmark, domain: string) => `${benchmark}-${domain}`;

/**
 * The benchmark and the domain of a name that `importedName` made; null for the name of a generated domain, which has no
 * hyphen. This function does not look into the list of benchmarks, because the page imports it.
 */
export function importedParts(name: string): { benchmark: Benchmark; domain: string } | null {
  const [, benchmark, domain] = /^([a-z0-9]+)-(.+)$/.exec(name) ?? [];
  return benchmark !== undefined && domain !== undefined ? { benchmark, domain } : null;
}

/** The name of a task in a reset of `mua env-serve`: of an imported task `retail:7`, of a generated task its id. */
export function resetName({ id, domain, benchmark }: Task): string {
  const imported = importedParts(domain);
  return imported && benchmark ? `${imported.domain}:${benchmark.id}` : id;
}
