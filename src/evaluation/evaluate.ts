/** @file Success of a policy on a task set: pass^k, how episodes ended, what rules were broken. */
import { collectRollouts, type Stage } from '../agent/rollouts.ts';
import type { EpisodeRules } from '../agent/rules.ts';
import type { EpisodeLimits, Sampling, Trajectory } from '../agent/types.ts';
import type { Task } from '../environments/types.ts';
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

export interface Evaluation {
  report: EvaluationReport;
  /** Those without a score come last. */
  trajectories: Trajectory[];
}

export interface EvaluationPlan {
  tasks: readonly Task[];
  trials: number;
  limits: EpisodeLimits;
  sampling: Sampling;
  seed: number;
  /** Sampler streams of an evaluation are its own, so that evaluating never changes training. */
  firstStream: number;
  concurrency: number;
  /** Departures from the rules of the domain's benchmark. */
  rules?: Partial<EpisodeRules>;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

export async function evaluate(stage: Stage, plan: EvaluationPlan): Promise<Evaluation> {
  const start = performance.now();
  const total = plan.tasks.length * plan.trials;
  let done = 0;
  const { groups, dropped } = await collectRollouts(stage, {
    tasks: plan.tasks,
    n: plan.trials,
    limits: plan.limits,
    sampling: plan.sampling,
    seed: plan.seed,
    firstStream: plan.firstStream,
    label: 'eval',
    concurrency: plan.concurrency,
    ...(plan.rules && { rules: plan.rules }),
    signal: plan.signal,
    onDone: () => plan.onProgress?.(++done, total),
  });
  const trajectories = groups.flat();
  const results = groups.map((group) => ({ trials: group.length, successes: group.filter((t) => t.reward === 1).length }));
  const intents = new Map<string, { trials: number; successes: number }[]>();
  plan.tasks.forEach((task, i) => {
    const intent = intentOf(task);
    intents.set(intent, [...(intents.get(intent) ?? []), results[i]!]);
  });
  const report: EvaluationReport = {
    tasks: plan.tasks.length,
    trials: plan.trials,
    pass_hat: Array.from({ length: plan.trials }, (_, i) => passHatInterval(results, i + 1)),
    tcr: meanInterval(groups.filter((group) => group.length > 0).map((group) => mean(group.map((t) => t.verdict?.progress ?? 0))), 0),
    noop_tasks: plan.tasks.filter((task) => task.noop).length,
    unscored: dropped.length,
    terminations: tally([...trajectories, ...dropped].map((t) => t.termination)),
    violations: tally(trajectories.flatMap((t) => t.violations.map((violation) => violation.rule))),
    tool_calls: sumCounts(trajectories.map((t) => t.toolCalls)),
    turns_mean: mean(trajectories.map((t) => t.turns)),
    by_intent: Object.fromEntries(
      [...intents].sort().map(([intent, rows]) => [intent, { tasks: rows.length, pass_hat_1: mean(rows.filter((r) => r.trials > 0).map((r) => r.successes / r.trials)) }]),
    ),
    seconds: (performance.now() - start) / 1000,
  };
  return { report, trajectories: [...trajectories, ...dropped] };
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function sumCounts(rows: readonly Record<string, number>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) for (const [name, n] of Object.entries(row)) counts[name] = (counts[name] ?? 0) + n;
  return counts;
}
