/** @file The type of an imported domain of a benchmark. */
import type { Task } from '../records/task.ts';
import type { Benchmark, BenchmarkTask } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { WorldTables } from '../environments/overlay.ts';

/** The content of the files of a domain. */
export interface ImportedBenchmark<Task extends BenchmarkTask = BenchmarkTask> {
  benchmark: Benchmark;
  domain: string;
  /** An object whose keys look like integers is a list of `[key, value]` in the order of the file (`parseOrdered`). */
  database: Json;
  userDatabase?: Json;
  /** The rows of both databases, as `BenchmarkDomain.load` returns them. */
  tables: WorldTables;
  tasks: Task[];
  /** The task ids of each split. All of them are ids of `tasks`. */
  splits: Record<string, string[]>;
  /** For each incomplete split, the number of its tasks that the files do not contain. */
  absent: Record<string, number>;
  policy: string;
}

export type ImportedTasks<Task extends BenchmarkTask = BenchmarkTask> = Pick<ImportedBenchmark<Task>, 'tasks' | 'splits' | 'absent'>;

/** A stored import. `id` identifies its content and is also the id of its world. */
export interface LoadedBenchmark {
  id: string;
  imported: ImportedBenchmark;
}

/** Called at the start of every episode. @throws if this domain of the benchmark was not imported */
export type LoadBenchmark = (benchmark: Benchmark, domain: string) => Promise<LoadedBenchmark>;

/** The name of an imported domain. */
export const importedName = (benchmark: Benchmark, domain: string) => `${benchmark}-${domain}`;

/**
 * Splits a name made by `importedName` into benchmark and domain. Null for the name of a generated domain, which contains no
 * hyphen. The list of benchmarks is not used here, because the page imports this function.
 */
export function importedParts(name: string): { benchmark: Benchmark; domain: string } | null {
  const [, benchmark, domain] = /^([a-z0-9]+)-(.+)$/.exec(name) ?? [];
  return benchmark !== undefined && domain !== undefined ? { benchmark, domain } : null;
}

/**
 * The name by which a reset of `mua env-serve` names a task: for example `retail:7` for an imported task, and the id of a
 * generated task.
 */
export function resetName({ id, domain, benchmark }: Task): string {
  const imported = importedParts(domain);
  return imported && benchmark ? `${imported.domain}:${benchmark.id}` : id;
}
