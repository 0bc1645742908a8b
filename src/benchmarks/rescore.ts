/** @file Scores recorded results again, with our data and our rules, and explains the rewards that differ. */
import type { BenchmarkTask, Tau1Task, Tau2Task } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { ImportedBenchmark } from './imported-benchmark.ts';
import type { ExactDomain } from '../domains/exact/types.ts';
import { exactDomain } from './exact-domains.ts';
import { canonicalJson } from '../base/json.ts';
import { World } from '../environments/overlay.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import type { ObservationDifference, RowDifference } from './replay.ts';
import { TAU_BENCH, type Tau1Rules, tau1Reward } from './tau1/reward.ts';
import { type Judge, tau2Reward } from './tau2/reward.ts';

export interface RescoredRun {
  task_id: string;
  trial: number;
  /** null if the results have no reward. */
  recorded_reward: number | null;
  /** null if the reward depends on assertions that were not judged. */
  reward: number | null;
  /** tau-bench only: `Tau1Reward.asked_again`, the environment's answer when it is asked for the reward a second time. */
  reward_asked_again?: 0 | 1;
  /** Whether the agent or the user ended the conversation, not a limit or a failure. */
  ended: boolean;
  /** The parts of our reward by name: those of the reward basis, or `r_actions` and `r_outputs` in tau-bench. */
  parts: Record<string, number | null>;
  /** Texts of all calls, in order. */
  observations: string[];
  differences: ObservationDifference[];
  /** Why the rewards differ; null if they are equal. */
  changed: Change | null;
  problems: string[];
}

export interface Change {
  /** Parts of the reward that differ from the results. Of parts that the results lack: those that are not met. */
  rules: { rule: string; recorded: number | null; now: number | null }[];
  /** Gold actions of our data that differ from those in the results. */
  gold: { index: number; recorded: Json; now: Json }[];
  /** tau2-bench: gold actions that only one of the two scorings found. */
  actions: { index: number; name: string; recorded: boolean; now: boolean }[];
  /** Rows that differ from the state after the gold actions. */
  rows: RowDifference[];
}

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

export interface RescoreOptions {
  /** tau-bench only. */
  rules?: Tau1Rules;
  /** Judges tau2's assertions in natural language. Default: the judgements in the results. */
  judge?: Judge;
  onProgress?: (done: number, total: number, label: string) => void;
}

/** @throws {Error} if the task of a result is not among the imported tasks */
export async function rescore(
  data: ImportedBenchmark,
  recorded: readonly RecordedRun[],
  options: RescoreOptions = {},
): Promise<RescoreReport> {
  const domain = exactDomain(data.domain, data.benchmark);
  const world = new World(data.domain, data.tables);
  const runs: RescoredRun[] = [];
  for (const [i, run] of recorded.entries()) {
    const task = findTask(data, run);
    runs.push(
      data.benchmark === 'tau1'
        ? rescoreTau1(domain, world, task as Tau1Task, run, options.rules ?? TAU_BENCH)
        : await rescoreTau2(domain, world, task as Tau2Task, run, options.judge),
    );
    options.onProgress?.(i + 1, recorded.length, 'conversations');
  }
  return { runs, summary: summarize(runs) };
}

/** Results of tau-bench give a task's index in a split, but not the split. The instruction tells which split. */
function findTask({ benchmark, domain, tasks }: ImportedBenchmark, { task, instruction }: RecordedRun): BenchmarkTask {
  const named = (tasks as BenchmarkTask[]).filter(({ id }) => (benchmark === 'tau1' ? id.endsWith(`/${task}`) : id === task));
  const found =
    (instruction === undefined ? undefined : (named as Tau1Task[]).find((entry) => entry.instruction === instruction)) ??
    named.find(({ id }) => id === `test/${task}`) ??
    named[0];
  if (!found) throw new Error(`the results are of task '${task}', which is not among the ${tasks.length} ${domain} tasks of the data`);
  return found;
}

function rescoreTau1(domain: ExactDomain, world: World, task: Tau1Task, run: RecordedRun, rules: Tau1Rules): RescoredRun {
  const { reward, asked_again, r_actions, outputs, ended, rows, replay } = tau1Reward(domain, world, task, run.conversation, rules);
  const parts = {
    r_actions: Number(r_actions),
    ...(outputs && { r_outputs: Number(Object.values(outputs).every(Boolean)) }),
    ...(rules.requireEnd && { ended: Number(ended) }),
  };
  const gold = goldChanges(
    run,
    task.actions.map(({ name, kwargs }) => ({ name, arguments: kwargs })),
  );
  return { ...rescored(run, reward, parts, replay, rows, gold, []), reward_asked_again: asked_again };
}

async function rescoreTau2(
  domain: ExactDomain,
  world: World,
  task: Tau2Task,
  run: RecordedRun,
  judge: Judge | undefined,
): Promise<RescoredRun> {
  const asRecorded: Judge = (assertions) => Promise.resolve(assertions.map((assertion) => run.judged.get(assertion) ?? null));
  const { reward, breakdown, rows, action_checks, ended, replay, env_assertions } = await tau2Reward(
    domain,
    world,
    task,
    run.conversation,
    judge ?? asRecorded,
  );
  const actions = action_checks.flatMap(({ action, match }, index) => {
    const before = run.actionChecks?.[index];
    return before === undefined || before === match ? [] : [{ index, name: action.name, recorded: before, now: match }];
  });
  const failures = env_assertions.flatMap(({ assertion, error }) => (error === undefined ? [] : [`${assertion.func_name}: ${error}`]));
  const gold = (task.evaluation_criteria?.actions ?? []).map(({ name, arguments: args }) => ({ name, arguments: args }));
  const made = rescored(run, reward, { ...breakdown, ended: Number(ended) }, replay, rows, goldChanges(run, gold), actions);
  return { ...made, problems: [...made.problems, ...failures] };
}

function rescored(
  run: RecordedRun,
  reward: number | null,
  parts: RescoredRun['parts'],
  replay: { observations: string[]; differences: ObservationDifference[] },
  rows: RowDifference[],
  gold: Change['gold'],
  actions: Change['actions'],
): RescoredRun {
  const same = run.reward === null || reward === null || Math.abs(run.reward - reward) < 1e-6;
  return {
    task_id: run.task,
    trial: run.trial,
    recorded_reward: run.reward,
    reward,
    ended: run.conversation.ended,
    parts,
    observations: replay.observations,
    differences: replay.differences,
    changed: same ? null : { rules: ruleChanges(run.parts, parts), gold, actions, rows },
    problems: run.problems,
  };
}

function ruleChanges(recorded: RecordedRun['parts'], now: RescoredRun['parts']): Change['rules'] {
  return [...new Set([...Object.keys(recorded), ...Object.keys(now)])].flatMap((rule) => {
    const [then, today] = [recorded[rule] ?? null, now[rule] ?? null];
    // tau-bench's results hold the outputs only if the task has some, and never the ending.
    const changed = then === null ? today !== 1 : then !== today;
    return changed ? [{ rule, recorded: then, now: today }] : [];
  });
}

function goldChanges({ gold }: RecordedRun, now: readonly { name: string; arguments: Record<string, Json> }[]): Change['gold'] {
  if (!gold) return [];
  return Array.from({ length: Math.max(gold.length, now.length) }, (_, index) => ({
    index,
    recorded: called(gold[index]),
    now: called(now[index]),
  })).filter((entry) => canonicalJson(entry.recorded) !== canonicalJson(entry.now));
}

const called = (action: { name: string; arguments: Record<string, Json> } | undefined): Json =>
  action ? { name: action.name, arguments: action.arguments } : null;

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
