/** @file Success of a policy on a task set: pass^k, how episodes ended, what rules were broken. */
import type { Trajectory } from '../agent/types.ts';
import { mean, meanInterval, passHatInterval, type Interval } from './pass-hat.ts';
import { intentOf } from './trial-result.ts';

export interface EvaluationReport {
  tasks: number;
  trials: number;
  /** pass^k for k = 1…trials, with a 95 % bootstrap interval over tasks. */
  pass_hat: (Interval & { k: number })[];
  /** Task completion rate: the share of a task's criteria that are met (of its goal's rows where it has none), mean over tasks. */
  tcr: Interval;
  /** Tasks whose gold changes nothing: doing nothing passes them. */
  noop_tasks: number;
  /** Episodes that the simulated user's failure left without a score. */
  unscored: number;
  terminations: Record<string, number>;
  violations: Record<string, number>;
  tool_calls: Record<string, number>;
  turns_mean: number;
  by_intent: Record<string, { tasks: number; pass_hat_1: number }>;
  seconds: number;
}

/** `trajectories`: every episode, those without a score too; the trials of a task share their group. */
export function reportOf(trajectories: readonly Trajectory[], trials: number, seconds: number): EvaluationReport {
  const tasks = [...groupBy(trajectories, ({ group }) => group)]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, episodes]) => ({ task: episodes[0]!.task, played: episodes.filter(({ reward }) => reward !== null) }));
  const scored = tasks.flatMap(({ played }) => played);
  const results = tasks.map(({ task, played }) => ({ intent: intentOf(task), trials: played.length, successes: played.filter(({ reward }) => reward === 1).length }));
  const intents = [...groupBy(results, ({ intent }) => intent)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    tasks: tasks.length,
    trials,
    pass_hat: Array.from({ length: trials }, (_, i) => passHatInterval(results, i + 1)),
    tcr: meanInterval(tasks.filter(({ played }) => played.length > 0).map(({ played }) => mean(played.map((t) => t.verdict?.progress ?? 0))), 0),
    noop_tasks: tasks.filter(({ task }) => task.noop).length,
    unscored: trajectories.length - scored.length,
    terminations: tally(trajectories.map(({ termination }) => termination)),
    violations: tally(scored.flatMap(({ violations }) => violations.map(({ rule }) => rule))),
    tool_calls: sumCounts(scored.map(({ toolCalls }) => toolCalls)),
    turns_mean: mean(scored.map(({ turns }) => turns)),
    by_intent: Object.fromEntries(intents.map(([intent, rows]) => [intent, { tasks: rows.length, pass_hat_1: mean(rows.filter((r) => r.trials > 0).map((r) => r.successes / r.trials)) }])),
    seconds,
  };
}

/** As `Map.groupBy`, which Node 20 lacks. */
function groupBy<T, K>(rows: readonly T[], key: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

function tally(words: readonly string[]): Record<string, number> {
  return sumCounts(words.map((word) => ({ [word]: 1 })));
}

function sumCounts(rows: readonly Record<string, number>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) for (const [name, n] of Object.entries(row)) counts[name] = (counts[name] ?? 0) + n;
  return counts;
}
