/**
 * @file The work of `mua replay` and `mua rescore`. It runs in Node, because it needs no GPU and a browser starts slowly. The
 * databases are read into memory and not stored.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ImportedBenchmark } from '../benchmarks/imported-benchmark.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { ReplayOutput } from '../benchmarks/definition.ts';
import { BENCHMARKS } from '../benchmarks/index.ts';
import { benchmarkNamed } from '../benchmarks/named.ts';
import { readCases, replayCases } from '../benchmarks/replay-cases.ts';
import { rescore, type RescoreReport } from '../benchmarks/rescore.ts';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { decode, parseJson } from '../benchmarks/import/parse.ts';
import { InputError } from '../base/input-error.ts';
import { LIMITS, openFiles } from '../exchange/file-source.ts';
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

/** @param prompts whether to add the rendered prompts @throws {InputError} if the data or the input is invalid */
export async function replayFile(job: BenchmarkJob, prompts = false): Promise<ReplayOutput> {
  const { rules, files, input: file, text, onProgress } = job;
  const own = benchmarkNamed(rules).replay;
  if (own) {
    const { paths, read } = await openFiles(
      files.map(([path, at]) => [path, () => readFile(at)] as const),
      LIMITS,
    );
    return own({ paths, read: async (path) => decode(path, await read(path)), file, text, prompts, hash: sha256, onProgress });
  }
  if (prompts) throw new InputError(`--prompts is given with --rules ${rules}: only ${withPrompts()} has prompts of its own`);
  const cases = replayCases(await load(job, []), readCases(file, parseJson(file, text)), { file, hash: sha256, onProgress });
  const errors = cases.flatMap((one) => one.errors);
  return { cases, counts: () => ({ calls: errors.length, errors: errors.filter(Boolean).length }) };
}

const withPrompts = () => BENCHMARKS.flatMap(({ name, replay }) => (replay ? [name] : [])).join(' or ');

/** @param variant the variant of the reward @throws {ImportError} if the data or the input is invalid */
export async function rescoreFile(job: BenchmarkJob, variant: string | undefined): Promise<RescoreReport> {
  const recorded = await readResults(job.input, parseJson(job.input, job.text), job.rules);
  return rescore(await load(job, ['tasks']), recorded, {
    ...(variant !== undefined && { variant }),
    onProgress: job.onProgress,
  });
}
