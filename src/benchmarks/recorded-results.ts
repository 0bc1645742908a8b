/** @file Reads recorded results of benchmarks. */
import { InputError } from '../base/input-error.ts';
import type { Json } from '../records/json.ts';
import type { BenchmarkDefinition, BenchmarkResults } from './definition.ts';
import { BENCHMARKS } from './index.ts';
import { benchmarkNamed } from './named.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import type { BenchmarkTask } from '../records/benchmark-task.ts';

/** The benchmark whose results file this is, by its content; undefined if it is of none. */
export const benchmarkOfResults = (value: unknown): BenchmarkDefinition | undefined =>
  BENCHMARKS.find(({ results }) => results?.isFile(value));

/** @throws {InputError} if the benchmark has no results files that the playground reads */
export function resultsFormat(benchmark: string): BenchmarkResults<BenchmarkTask> {
  const { results, title } = benchmarkNamed(benchmark);
  if (!results) throw new InputError(`benchmark: '${benchmark}' has no recorded results that can be read: ${title} has no such files`);
  return results;
}

/** The runs of a results file. @throws ImportError naming file, path and reason */
export const readResults = (file: string, value: Json, benchmark: string): RecordedRun[] => resultsFormat(benchmark).read(file, value);
