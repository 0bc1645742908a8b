/** @file Compares the recorded reward of a run with the reward that we compute, and explains the difference. */
import { canonicalJson } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import type { ObservationDifference, RowDifference } from './replay.ts';

export interface RescoredRun {
  task_id: string;
  trial: number;
  /** Null if the results contain no reward. */
  recorded_reward: number | null;
  /** Null if the reward depends on assertions that were not judged, or if the recording failed. */
  reward: number | null;
  /** Only for tau-bench: `Tau1Reward.asked_again`, the environment's answer if it is asked for the reward a second time. */
  reward_asked_again?: 0 | 1;
  /** Whether the agent or the user ended the conversation. False if a limit or a failure ended it. */
  ended: boolean;
  /** The parts of our reward, by name: those of the reward basis, or `r_actions` and `r_outputs` in tau-bench. */
  parts: Record<string, number | null>;
  /** The texts of the results of all calls, in order. */
  observations: string[];
  differences: ObservationDifference[];
  /** The reasons why the rewards differ. Null if they are equal. */
  changed: Change | null;
  problems: string[];
}

export interface Change {
  /** The parts of the reward that differ from the results. A part that is missing in the results is listed if it is not met now. */
  rules: { rule: string; recorded: number | null; now: number | null }[];
  /** The gold actions of our data that differ from those in the results. */
  gold: { index: number; recorded: Json; now: Json }[];
  /** For tau2-bench: the gold actions that only one of the two scorings found in the conversation. */
  actions: { index: number; name: string; recorded: boolean; now: boolean }[];
  /** The rows that differ from the state after the gold actions. */
  rows: RowDifference[];
}

/** What a benchmark computes when it scores a recorded run. */
export interface Scored {
  /** Null if the reward depends on assertions that were not judged. */
  reward: number | null;
  parts: RescoredRun['parts'];
  observations: string[];
  differences: ObservationDifference[];
  /** The rows that differ from the state after the gold actions. Default: none. */
  rows?: RowDifference[];
  /** The gold actions of our data. */
  gold: readonly { name: string; arguments: Record<string, Json> }[];
  /** The gold actions that only one of the two scorings found in the conversation. Default: none. */
  actions?: Change['actions'];
}

/** Makes the report on a recorded run. */
export function compareRewards(
  run: RecordedRun,
  { reward, parts, observations, differences, rows = [], gold, actions = [] }: Scored,
): RescoredRun {
  // A conversation that failed for another reason than the agent has no reward.
  const now = run.error === undefined ? reward : null;
  const same = run.reward === null || now === null || Math.abs(run.reward - now) < 1e-6;
  return {
    task_id: run.task,
    trial: run.trial,
    recorded_reward: run.reward,
    reward: now,
    ended: run.conversation.ended,
    parts,
    observations,
    differences,
    changed: same ? null : { rules: ruleChanges(run.parts, parts), gold: goldChanges(run, gold), actions, rows },
    problems: [...(run.error === undefined ? [] : [`the recording failed: ${run.error}`]), ...run.problems],
  };
}

function ruleChanges(recorded: RecordedRun['parts'], now: RescoredRun['parts']): Change['rules'] {
  return [...new Set([...Object.keys(recorded), ...Object.keys(now)])].flatMap((rule) => {
    const [then, today] = [recorded[rule] ?? null, now[rule] ?? null];
    // tau-bench's results contain the part for the outputs only if the task has some. They never contain a part for the ending.
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
