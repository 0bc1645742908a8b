/** @file Makes the report of an evaluation: pass^k, how the episodes ended, and which rules were broken. */
import { sumCopied } from '../agent/copied.ts';
import { groupBy } from '../base/group-by.ts';
import { derivedName, isAudited } from '../domains/registry.ts';
import type { ProcessMeasures } from '../records/benchmark-task.ts';
import type { EvaluationReport } from '../records/evaluation.ts';
import type { Verdict } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { usageOf } from '../users/account.ts';
import { clustersOf, meanInterval, shareInterval } from './intervals.ts';
import { mean, passHatInterval } from './pass-hat.ts';
import { confirmedWrites, customerOf, intentOf, outcomeOf } from './trial-result.ts';

/** A share of which nothing was measured. */
const UNKNOWN = { value: 0, low: 0, high: 1 };

/** `trajectories` are all episodes, including those without a score. The trials of a task have the same group. */
export function reportOf(trajectories: readonly Trajectory[], trials: number, seconds: number): EvaluationReport {
  const tasks = [...groupBy(trajectories, ({ group }) => group)]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, episodes]) => ({
      task: episodes[0]!.task,
      customer: customerOf(episodes[0]!.task),
      played: episodes.filter(({ reward }) => reward !== null),
    }));
  const scored = tasks.flatMap(({ played }) => played);
  const results = tasks.map(({ task, customer, played }) => ({
    intent: intentOf(task),
    customer,
    outcomes: played.map(outcomeOf),
    measures: played.flatMap(({ verdict }) => measuresOf(verdict) ?? []),
    trials: played.length,
    successes: played.filter(({ reward }) => reward === 1).length,
  }));
  const completion = shareInterval(
    clustersOf(
      tasks.filter(({ played }) => played.length > 0),
      ({ customer }) => customer,
      ({ played }) => mean(played.map(({ verdict }) => verdict?.progress ?? 0)),
    ),
  );
  const audited = trajectories.every(({ task }) => isAudited(task.domain));
  const writes = [...groupBy(results, ({ customer }) => customer).values()].map(totalWrites);
  const copied = shareInterval(
    [...groupBy(scored, ({ task }) => customerOf(task)).values()].map(sumCopied).map(({ found, of }) => ({ sum: found, of })),
  );
  const failed = trajectories.find(({ reward, error }) => reward === null && error !== undefined);
  const agent = usageOf(trajectories.flatMap(({ agentRequests = [] }) => agentRequests));
  const intents = [...groupBy(results, ({ intent }) => intent)].sort(([a], [b]) => (a < b ? -1 : 1));
  const first = trajectories[0]?.task;
  const derived = first && derivedName(first.domain, first.level);
  return {
    ...(derived !== undefined && { derived }),
    tasks: tasks.length,
    trials,
    pass_hat: Array.from({ length: trials }, (_, i) => i + 1).flatMap(
      (k) => passHatInterval(results, k) ?? (k === 1 ? { k, ...UNKNOWN } : []),
    ),
    tcr: completion ?? UNKNOWN,
    ...processMeasures(results),
    noop_tasks: tasks.filter(({ task }) => task.noop).length,
    unscored: trajectories.length - scored.length,
    ...(failed && { unscored_reason: failed.error! }),
    ...(agent && { agent }),
    terminations: tally(trajectories.map(({ termination }) => termination)),
    violations: audited ? tally(scored.flatMap(({ violations }) => violations.map(({ rule }) => rule))) : null,
    confirmed_writes: audited ? shareInterval(writes.map(({ confirmed, of }) => ({ sum: confirmed, of }))) : null,
    ...(copied && { copied_arguments: copied }),
    tool_calls: sumCounts(scored.map(({ toolCalls }) => toolCalls)),
    turns_mean: mean(scored.map(({ turns }) => turns)),
    by_intent: Object.fromEntries(
      intents.map(([intent, rows]) => [
        intent,
        {
          tasks: rows.length,
          pass_hat_1: mean(rows.filter((r) => r.trials > 0).map((r) => r.successes / r.trials)),
          ...(rows.some(({ measures }) => measures.length > 0) && { process: meanProcess(rows) }),
          ...(audited && { writes: totalWrites(rows) }),
        },
      ]),
    ),
    seconds,
  };
}

/** The measures of a verdict. Null if its world has none. */
function measuresOf(verdict: Verdict | null): ProcessMeasures | null {
  const { process, turns_passed } = verdict?.reward_info?.info ?? {};
  if (typeof process !== 'number') return null;
  return { process, ...(typeof turns_passed === 'number' && { turns_passed }) };
}

interface Measured {
  customer: string;
  measures: readonly ProcessMeasures[];
}

const meanProcess = (rows: readonly Measured[]): number =>
  mean(rows.filter(({ measures }) => measures.length > 0).map(({ measures }) => mean(measures.map(({ process }) => process))));

function processMeasures(results: readonly Measured[]): Pick<EvaluationReport, 'process' | 'turns_before_failure'> {
  const measured = results.filter(({ measures }) => measures.length > 0);
  const clusters = (number: (measures: readonly ProcessMeasures[]) => number, rows: readonly Measured[]) =>
    clustersOf(
      rows,
      ({ customer }) => customer,
      ({ measures }) => number(measures),
    );
  const process = shareInterval(clusters((own) => mean(own.map((one) => one.process)), measured));
  const turns = measured.filter(({ measures }) => measures.every(({ turns_passed }) => turns_passed !== undefined));
  const passed = turns.flatMap(({ measures }) => measures.map(({ turns_passed }) => turns_passed!));
  const most = passed.reduce((a, b) => Math.max(a, b), 1);
  const before = meanInterval(
    clusters((own) => mean(own.map((one) => one.turns_passed!)), turns),
    [0, most],
  );
  return { ...(process && { process }), ...(before && { turns_before_failure: before }) };
}

const totalWrites = (rows: readonly { outcomes: Parameters<typeof confirmedWrites>[0] }[]) =>
  confirmedWrites(rows.flatMap(({ outcomes }) => outcomes));

function tally(words: readonly string[]): Record<string, number> {
  return sumCounts(words.map((word) => ({ [word]: 1 })));
}

function sumCounts(rows: readonly Record<string, number>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) for (const [name, n] of Object.entries(row)) counts[name] = (counts[name] ?? 0) + n;
  return counts;
}
