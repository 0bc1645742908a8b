/** @file The reward of tau2-bench: the product of the components in the task's `reward_basis`. */
import type { EnvAssertion, RewardType, GoldAction } from '../../records/benchmark-task.ts';
import { actionMatches, assertionHolds } from '../../domains/exact/criteria.ts';
import type { ExactDomain } from '../../domains/exact/types.ts';
import { runExact } from '../../domains/exact/run.ts';
import { Overlay, type World } from '../../environments/overlay.ts';
import type { Judge } from '../definition.ts';
import { callsOf, type Conversation } from '../recorded-conversation.ts';
import { replay, type Replay, type RowDifference, rowDifferences } from '../replay.ts';
import { assistantTexts, mentions } from '../tau/said.ts';
import type { Tau2Task } from './task.ts';

export interface Tau2Reward {
  /** Null if the reward depends on assertions that were not judged. */
  reward: number | null;
  /** The components of the reward basis. Empty if the conversation did not end properly. */
  breakdown: Partial<Record<RewardType, number | null>>;
  /** Whether both databases, the agent's and the user's, equal the databases after the gold actions. */
  db_match: boolean;
  rows: RowDifference[];
  env_assertions: { assertion: EnvAssertion; met: boolean; error?: string }[];
  action_checks: { action: GoldAction; match: boolean }[];
  communicate_checks: { info: string; met: boolean }[];
  nl_assertions: { assertion: string; met: boolean | null }[];
  ended: boolean;
}

/** The reward basis of a task that has none. */
export const DEFAULT_BASIS: readonly RewardType[] = ['DB', 'COMMUNICATE'];

/**
 * Makes the state at the start of the conversation. `history` says whether to run the calls of the message history.
 * @throws if the initial state fails
 */
function started(domain: ExactDomain, world: World, { initial_state }: Tau2Task, history: boolean): Overlay {
  const rows = new Overlay(world);
  if (initial_state) domain.initialize(rows, history ? initial_state : { ...initial_state, message_history: null });
  return rows;
}

/** Quirk: upstream replays gold actions without the synchronisation that follows a live call, and skips gold actions that fail. */
function tau2Gold(domain: ExactDomain, world: World, task: Tau2Task): Overlay {
  const rows = started(domain, world, task, true);
  for (const { name, arguments: args, requestor } of task.evaluation_criteria?.actions ?? [])
    runExact(domain, rows, { name, arguments: args, ...(requestor && { requestor }) }, { sync: false });
  return rows;
}

/** @throws if the task's initial state fails */
export async function tau2Reward(
  domain: ExactDomain,
  world: World,
  task: Tau2Task,
  conversation: Conversation,
  judge: Judge = cannotJudge,
): Promise<Tau2Reward & { replay: Replay }> {
  const replayed = replay(domain, started(domain, world, task, false), conversation);
  const { actions, env_assertions, communicate_info, nl_assertions, reward_basis: basis = DEFAULT_BASIS } = task.evaluation_criteria ?? {};
  const calls = callsOf(conversation);
  const texts = assistantTexts(conversation);
  const rows = rowDifferences(tau2Gold(domain, world, task), replayed.rows);
  const asserted = (env_assertions ?? []).map((assertion) => ({ assertion, ...holds(domain, replayed.rows, assertion) }));
  const matched = (actions ?? []).map((action) => ({ action, match: calls.some((call) => actionMatches(action, call)) }));
  const communicated = (communicate_info ?? []).map((info) => ({ info, met: mentions(texts, info) }));
  const judged = basis.includes('NL_ASSERTION') && nl_assertions?.length ? await judge(nl_assertions, conversation) : [];
  const stated = judged.map((met, i) => ({ assertion: nl_assertions![i]!, met }));
  // Quirk: if there are no actions and no assertions to check, the environment counts as right, even if it was changed.
  const unchecked = !actions && !env_assertions;
  const components: Record<RewardType, number | null> = {
    DB: unchecked || rows.length === 0 ? 1 : 0,
    ENV_ASSERTION: all(asserted.map(({ met }) => met)),
    ACTION: all(matched.map(({ match }) => match)),
    COMMUNICATE: all(communicated.map(({ met }) => met)),
    NL_ASSERTION: all(judged),
  };
  const breakdown: Tau2Reward['breakdown'] =
    conversation.ended && task.evaluation_criteria ? Object.fromEntries(basis.map((type) => [type, components[type]])) : {};
  return {
    reward: conversation.ended ? product(Object.values(breakdown)) : 0,
    breakdown,
    db_match: components.DB === 1,
    rows: unchecked ? [] : rows,
    env_assertions: asserted,
    action_checks: matched,
    communicate_checks: communicated,
    nl_assertions: stated,
    ended: conversation.ended,
    replay: replayed,
  };
}

const cannotJudge: Judge = (assertions) => Promise.resolve(assertions.map(() => null));

/** An assertion that fails with an error counts as not met. Upstream's evaluation would stop at it. */
function holds(domain: ExactDomain, rows: Overlay, assertion: EnvAssertion): { met: boolean; error?: string } {
  try {
    return { met: assertionHolds(domain, rows, assertion) };
  } catch (cause) {
    return { met: false, error: (cause as Error).message };
  }
}

/** 1 if all are met, 0 if at least one is not met, otherwise null (unknown). */
const all = (met: readonly (boolean | null)[]) => product(met.map((value) => (value === null ? null : Number(value))));

function product(values: readonly (number | null)[]): number | null {
  if (values.some((value) => value === 0)) return 0;
  return values.includes(null) ? null : 1;
}
