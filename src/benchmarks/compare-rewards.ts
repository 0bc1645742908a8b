/** @file Compares the reward of a recorded run with ours, and explains the difference. */
import { canonicalJson } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import type { ObservationDifference, RowDifference } from './replay.ts';

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

/** What a benchmark computes for a recorded run. */
export interface Scored {
  /** Null if the reward depends on assertions that were not judged. */
  reward: number | null;
  parts: RescoredRun['parts'];
  observations: string[];
  differences: ObservationDifference[];
  /** Rows that differ from the state after the gold actions. Default: none. */
  rows?: RowDifference[];
  /** The gold actions of our data. */
  gold: readonly { name: string; arguments: Record<string, Json> }[];
  /** Gold actions that only one of the two scorings found. Default: none. */
  actions?: Change['actions'];
}

/** The report of a recorded run. */
export function compareRewards(
  run: RecordedRun,
  { reward, parts, observations, differences, rows = [], gold, actions = [] }: Scored,
): RescoredRun {
  const same = run.reward === null || reward === null || Math.abs(run.reward - reward) < 1e-6;
  return {
    task_id: run.task,
    trial: run.trial,
    recorded_reward: run.reward,
    reward,
    ended: run.conversation.ended,
    parts,
    observations,
    differences,
    changed: same ? null : { rules: ruleChanges(run.parts, parts), gold: goldChanges(run, gold), actions, rows },
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
