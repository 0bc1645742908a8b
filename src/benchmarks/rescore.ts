/** @file Scores recorded results again, with our data and our rules, and explains which rewards differ. */
import { World } from '../environments/overlay.ts';
import type { RescoredRun } from './compare-rewards.ts';
import type { ScoreOptions } from './definition.ts';
import type { ImportedBenchmark } from './imported-benchmark.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import { resultsFormat } from './recorded-results.ts';

export interface RescoreReport {
  runs: RescoredRun[];
  summary: {
    runs: number;
    same: number;
    different: number;
    unrecorded: number;
    unjudged: number;
    calls: number;
    observations_different: number;
    mean_recorded: number | null;
    mean: number | null;
  };
}

export interface RescoreOptions extends ScoreOptions {
  onProgress?: (done: number, total: number, label: string) => void;
}

/** @throws {Error} if the task of a result is not among the imported tasks */
export async function rescore(
  { benchmark, domain, tables, tasks }: ImportedBenchmark,
  recorded: readonly RecordedRun[],
  { onProgress, ...options }: RescoreOptions = {},
): Promise<RescoreReport> {
  const results = resultsFormat(benchmark);
  const world = new World(domain, tables);
  const runs: RescoredRun[] = [];
  for (const [i, run] of recorded.entries()) {
    const task = results.taskOf ? results.taskOf(tasks, run) : tasks.find(({ id }) => id === run.task);
    if (!task) throw new Error(`the results are of task '${run.task}', which is not among the ${tasks.length} ${domain} tasks of the data`);
    runs.push(await results.score(run, { domain, world, task, conversation: run.conversation }, options));
    onProgress?.(i + 1, recorded.length, 'conversations');
  }
  return { runs, summary: summarize(runs) };
}

function summarize(runs: readonly RescoredRun[]): RescoreReport['summary'] {
  const mean = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  };
  const different = runs.filter(({ changed }) => changed).length;
  const unrecorded = runs.filter(({ recorded_reward }) => recorded_reward === null).length;
  const unjudged = runs.filter(({ reward, recorded_reward }) => reward === null && recorded_reward !== null).length;
  return {
    runs: runs.length,
    same: runs.length - different - unrecorded - unjudged,
    different,
    unrecorded,
    unjudged,
    calls: runs.reduce((sum, { observations }) => sum + observations.length, 0),
    observations_different: runs.reduce((sum, { differences }) => sum + differences.length, 0),
    mean_recorded: mean(runs.map(({ recorded_reward }) => recorded_reward)),
    mean: mean(runs.map(({ reward }) => reward)),
  };
}
