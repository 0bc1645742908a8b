/** @file Makes the report of an evaluation: pass^k, how the episodes ended, and which rules were broken. */
import { groupBy } from '../base/group-by.ts';
import { isAudited } from '../domains/registry.ts';
import type { EvaluationReport } from '../records/evaluation.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { mean, meanInterval, passHatInterval, ratioInterval } from './pass-hat.ts';
import { confirmedWrites, intentOf, resultOf } from './trial-result.ts';

/** `trajectories` are all episodes, including those without a score. The trials of a task have the same group. */
export function reportOf(trajectories: readonly Trajectory[], trials: number, seconds: number): EvaluationReport {
  const tasks = [...groupBy(trajectories, ({ group }) => group)]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, episodes]) => ({ task: episodes[0]!.task, played: episodes.filter(({ reward }) => reward !== null) }));
  const scored = tasks.flatMap(({ played }) => played);
  const results = tasks.map(({ task, played }) => ({
    intent: intentOf(task),
    trials: played.length,
    successes: played.filter(({ reward }) => reward === 1).length,
  }));
  const intents = [...groupBy(results, ({ intent }) => intent)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    tasks: tasks.length,
    trials,
    pass_hat: Array.from({ length: trials }, (_, i) => passHatInterval(results, i + 1)),
    tcr: meanInterval(
      tasks.filter(({ played }) => played.length > 0).map(({ played }) => mean(played.map((t) => t.verdict?.progress ?? 0))),
      0,
    ),
    noop_tasks: tasks.filter(({ task }) => task.noop).length,
    unscored: trajectories.length - scored.length,
    terminations: tally(trajectories.map(({ termination }) => termination)),
    violations: trajectories.every(({ task }) => isAudited(task.domain))
      ? tally(scored.flatMap(({ violations }) => violations.map(({ rule }) => rule)))
      : null,
    confirmed_writes: trajectories.every(({ task }) => isAudited(task.domain))
      ? ratioInterval(tasks.map(({ played }) => confirmedWrites(played.map(resultOf))))
      : null,
    tool_calls: sumCounts(scored.map(({ toolCalls }) => toolCalls)),
    turns_mean: mean(scored.map(({ turns }) => turns)),
    by_intent: Object.fromEntries(
      intents.map(([intent, rows]) => [
        intent,
        { tasks: rows.length, pass_hat_1: mean(rows.filter((r) => r.trials > 0).map((r) => r.successes / r.trials)) },
      ]),
    ),
    seconds,
  };
}

function tally(words: readonly string[]): Record<string, number> {
  return sumCounts(words.map((word) => ({ [word]: 1 })));
}

function sumCounts(rows: readonly Record<string, number>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) for (const [name, n] of Object.entries(row)) counts[name] = (counts[name] ?? 0) + n;
  return counts;
}
