/**
 * @file What `mua replay` and `mua rescore` do, in Node: neither needs a GPU, and starting a browser would take longer than
 * replaying a benchmark. The databases are read into memory; nothing is stored.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ImportedBenchmark } from '../environments/exact/benchmark-task.ts';
import type { Benchmark, ExactDomain } from '../environments/exact/types.ts';
import { readCases, type ReplayedCase, replayCases } from '../evaluation/replay-cases.ts';
import { rescore, type RescoreReport } from '../evaluation/rescore.ts';
import { MUA_RL_EMPTY_OUTPUT, TAU_BENCH } from '../evaluation/tau1-reward.ts';
import { importBenchmark } from '../exchange/benchmark-import.ts';
import { parseJson } from '../exchange/benchmark-parse.ts';
import { readResults } from '../exchange/recorded-results.ts';

export interface BenchmarkJob {
  domain: ExactDomain['name'];
  rules: Benchmark;
  /** Paths of the data's files below its folder, each with its place on disk; or a zip alone. */
  files: [path: string, file: string][];
  /** Path of the input, for messages, and its text. */
  input: string;
  text: string;
  onProgress(done: number, total: number, label: string): void;
}

function load({ files, rules, domain, onProgress }: BenchmarkJob, needs: readonly 'tasks'[]): Promise<ImportedBenchmark> {
  return importBenchmark(files.map(([path, file]) => [path, () => readFile(file)] as const), { benchmark: rules, domain, needs, onProgress });
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** @throws {ImportError} on data or an input that is not as expected */
export async function replayFile(job: BenchmarkJob): Promise<{ cases: ReplayedCase[] }> {
  const cases = readCases(job.input, parseJson(job.input, job.text));
  return { cases: replayCases(await load(job, []), cases, { file: job.input, hash: sha256, onProgress: job.onProgress }) };
}

/** @throws {ImportError} on data or an input that is not as expected */
export async function rescoreFile(job: BenchmarkJob & { emptyOutput: boolean }): Promise<RescoreReport> {
  const recorded = readResults(job.input, parseJson(job.input, job.text), job.rules);
  return rescore(await load(job, ['tasks']), recorded, { rules: job.emptyOutput ? MUA_RL_EMPTY_OUTPUT : TAU_BENCH, onProgress: job.onProgress });
}
