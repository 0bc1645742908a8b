/**
 * @file The work of `mua replay` and `mua rescore`. It runs in Node, because it needs no GPU and a browser starts slowly. The
 * databases are read into memory and not stored.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ImportedBenchmark } from '../benchmarks/imported-benchmark.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import { readCases, type ReplayedCase, replayCases } from '../benchmarks/replay-cases.ts';
import { rescore, type RescoreReport } from '../benchmarks/rescore.ts';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { parseJson } from '../benchmarks/import/parse.ts';
import { readResults } from '../benchmarks/recorded-results.ts';

export interface BenchmarkJob {
  domain: string;
  rules: Benchmark;
  /** The files of the data: for each one, the path in the benchmark's folder and the path on disk. Or a single zip file. */
  files: [path: string, file: string][];
  /** The path of the input, for error messages; `text` is its content. */
  input: string;
  text: string;
  onProgress(done: number, total: number, label: string): void;
}

function load({ files, rules, domain, onProgress }: BenchmarkJob, needs: readonly 'tasks'[]): Promise<ImportedBenchmark> {
  return importBenchmark(
    files.map(([path, file]) => [path, () => readFile(file)] as const),
    { benchmark: rules, domain, needs, onProgress },
  );
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** @throws {ImportError} if the data or the input is invalid */
export async function replayFile(job: BenchmarkJob): Promise<{ cases: ReplayedCase[] }> {
  const cases = readCases(job.input, parseJson(job.input, job.text));
  return { cases: replayCases(await load(job, []), cases, { file: job.input, hash: sha256, onProgress: job.onProgress }) };
}

/** @param variant the variant of the reward @throws {ImportError} if the data or the input is invalid */
export async function rescoreFile(job: BenchmarkJob, variant: string | undefined): Promise<RescoreReport> {
  const recorded = readResults(job.input, parseJson(job.input, job.text), job.rules);
  return rescore(await load(job, ['tasks']), recorded, {
    ...(variant !== undefined && { variant }),
    onProgress: job.onProgress,
  });
}
