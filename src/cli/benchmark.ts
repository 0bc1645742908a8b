/**
 * @file What `mua replay` and `mua rescore` do, in Node: neither needs a GPU, and starting a browser would take longer than
 * replaying a benchmark. The databases are read into memory; nothing is stored.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ImportedBenchmark } from '../environments/benchmark-task.ts';
import type { Benchmark, ExactDomain } from '../environments/exact.ts';
import { readCases, type ReplayedCase, replayCases } from '../evaluation/replay-cases.ts';
import { rescore, type RescoreReport } from '../evaluation/rescore.ts';
import { MUA_RL_EMPTY_OUTPUT, TAU_BENCH } from '../evaluation/tau1-reward.ts';
import type { FileSource } from '../exchange/benchmark-files.ts';
import { importBenchmark } from '../exchange/benchmark-import.ts';
import { parseJson } from '../exchange/benchmark-parse.ts';
import { readResults } from '../exchange/recorded-results.ts';

export interface BenchmarkJob {
  domain: ExactDomain['name'];
  rules: Benchmark;
  /** Folder (or zip) of the data. */
  data: string;
  /** Path of the input, for messages, and its text. */
  input: string;
  text: string;
  onProgress(done: number, total: number, label: string): void;
}

const DEPTH = 8;

/** Files below a folder; links are not followed. */
async function listFiles(root: string, folder = root, depth = 0): Promise<[string, FileSource][]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const lists = await Promise.all(entries.map((entry): Promise<[string, FileSource][]> | [string, FileSource][] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth < DEPTH && !/^(\.|node_modules$)/.test(entry.name) ? listFiles(root, path, depth + 1) : [];
    return entry.isFile() ? [[relative(root, path).split(sep).join('/'), () => readFile(path)]] : [];
  }));
  return lists.flat();
}

async function load({ data, rules, domain, onProgress }: BenchmarkJob, needs: readonly 'tasks'[]): Promise<ImportedBenchmark> {
  return importBenchmark(data.endsWith('.zip') ? await readFile(data) : await listFiles(data), { benchmark: rules, domain, needs, onProgress });
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
