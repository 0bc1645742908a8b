/** @file Reads recorded results of benchmarks. */
import { InputError } from '../base/input-error.ts';
import type { Json } from '../records/json.ts';
import type { BenchmarkDefinition, BenchmarkResults } from './definition.ts';
import { BENCHMARKS } from './index.ts';
import { benchmarkNamed } from './named.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import type { BenchmarkTask } from '../records/benchmark-task.ts';

/** The benchmark to which a results file belongs, according to its content. Undefined if it belongs to none. */
export const benchmarkOfResults = (value: unknown): BenchmarkDefinition | undefined =>
  BENCHMARKS.find(({ results }) => results?.isFile(value));

/** @throws {InputError} if the playground reads no results files of this benchmark */
export function resultsFormat(benchmark: string): BenchmarkResults<BenchmarkTask> {
  const { results, title } = benchmarkNamed(benchmark);
  if (!results) throw new InputError(`benchmark: '${benchmark}' has no recorded results that can be read: ${title} has no such files`);
  return results;
}

/** The runs of a results file. @throws ImportError that names the file, the path and the reason */
export const readResults = async (file: string, value: Json, benchmark: string): Promise<RecordedRun[]> =>
  resultsFormat(benchmark).read(file, value);
