/**
 * @file The reward of training: a weighted sum of terms. By default it is the binary outcome alone, as in MUA-RL. Evaluation
 * never uses it: held-out success is always the binary outcome, `Trajectory.reward`.
 */
import { path } from '../base/message-path.ts';
import { totalReward } from '../agent/trajectory.ts';
import { actionMatches } from '../domains/exact/criteria.ts';
import { transfersOf } from '../domains/registry.ts';
import { countRight } from '../environments/verifier.ts';
import type { EvaluationCriteria, GoldAction } from '../records/benchmark-task.ts';
import { REWARD_TERMS, type RewardTerm, type RewardTerms, type RewardSettings } from '../records/rewards.ts';
import type { Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { PAPER } from './defaults.ts';

/** How often the agent hands the customer over to a human. */
export const transfersIn = ({ task, toolCalls }: Pick<Trajectory, 'task' | 'toolCalls'>): number =>
  transfersOf(task.domain).reduce((count, tool) => count + (toolCalls[tool] ?? 0), 0);

/** Whether the gold hands the customer over. */
export const mustTransfer = ({ domain, actions }: Task): boolean => actions.some(({ name }) => transfersOf(domain).includes(name));

const PRICES: ReadonlySet<RewardTerm> = new Set(['unconfirmed_write', 'length', 'handover']);

/** What the reward depends on. */
export interface RewardFacts {
  /** The verdict, and 0 where the rules demand a proper end that is missing. */
  outcome: number;
  /** Rows that the gold changes; those of them that are right; changed rows that are not as the gold leaves them. */
  rows: { goal: number; right: number; damaged: number };
  /** The customer or a tool ended the conversation, not a limit or an error. */
  ended: boolean;
  /** How many violations the audit found. 0 where the domain is not audited. */
  violations: number;
  /** Writes without the customer's yes. */
  unconfirmed: number;
  /** How many turns of the agent could not be parsed. */
  parseErrors: number;
  /** The share of the gold's tool calls that were made, 0 to 1. 1 if the gold has no calls. */
  toolMatch: number;
  sampledTokens: number;
  /** Transfers to a human, if the gold has none. */
  handovers: number;
}

/**
 * Each term without its weight, from 0; all but prices are at most 1.
 *
 * - outcome: the binary outcome
 * - partial: max(0, right − damaged) / goal rows, if the gate holds, else 0. If the gold changes no row: 1 if nothing was changed,
 *   else 0. The gate `ended` holds if the conversation ended properly; `no_violations` also needs an audit without a violation.
 * - format: 1 if every turn could be parsed, else 0
 * - tool_match: the share of the gold's calls that were made
 * - unconfirmed_write: the number of writes without a yes
 * - length: sampled tokens / 100
 * - handover: the number of transfers to a human, if the gold has none, else 0
 */
function valueOf(term: RewardTerm, facts: RewardFacts, gate: RewardSettings['reward.partial_gate']): number {
  switch (term) {
    case 'outcome':
      return facts.outcome;
    case 'partial': {
      const { goal, right, damaged } = facts.rows;
      if (!facts.ended || (gate === 'no_violations' && facts.violations > 0)) return 0;
      return goal === 0 ? Number(damaged === 0) : Math.max(0, right - damaged) / goal;
    }
    case 'format':
      return Number(facts.parseErrors === 0);
    case 'tool_match':
      return facts.toolMatch;
    case 'unconfirmed_write':
      return facts.unconfirmed;
    case 'length':
      return facts.sampledTokens / 100;
    case 'handover':
      return facts.handovers;
  }
}

interface Reward {
  total: number;
  /** The terms that are switched on, with their weights. They sum to `total`. */
  terms: RewardTerms;
}

/** Whether the reward is more than the plain outcome. The gate alone changes nothing. Imported runs can lack the settings. */
export const isShaped = (settings: Partial<RewardSettings>): boolean =>
  REWARD_TERMS.some((term) => {
    const plain = PAPER[`reward.${term}`];
    return (settings[`reward.${term}`] ?? plain) !== plain;
  });

export function rewardFrom(facts: RewardFacts, settings: RewardSettings): Reward {
  const terms: RewardTerms = {};
  for (const term of REWARD_TERMS) {
    const weight = settings[`reward.${term}`];
    if (weight === 0) continue;
    const value = weight * valueOf(term, facts, settings['reward.partial_gate']);
    terms[term] = PRICES.has(term) && value !== 0 ? -value : value;
  }
  return { total: totalReward({ reward: 0, rewards: terms }), terms };
}

/** The reward of a scored trajectory. An unscored trajectory has the outcome 0. */
export const rewardOf = (trajectory: Trajectory, settings: RewardSettings): Reward => rewardFrom(factsOf(trajectory), settings);

/** Stores the terms of the reward in a scored trajectory, if they are more than the outcome. */
export function storeRewards(trajectory: Trajectory, settings: RewardSettings): void {
  if (trajectory.reward !== null && isShaped(settings)) trajectory.rewards = rewardOf(trajectory, settings).terms;
}

function factsOf(trajectory: Trajectory): RewardFacts {
  const { task, termination, verdict, violations } = trajectory;
  const nodes = path(trajectory);
  const gold = goldOf(task);
  const calls = [...nodes.flatMap(({ toolCall }) => (toolCall ? [toolCall] : [])), ...(trajectory.userCalls ?? []).map(({ call }) => call)];
  const matched = gold.filter((action) => calls.some((call) => actionMatches(action, call))).length;
  const right = verdict ? countRight(verdict.changes, verdict.goal) : 0;
  return {
    outcome: trajectory.reward ?? 0,
    rows: { goal: verdict?.goal.length ?? 0, right, damaged: (verdict?.changes.length ?? 0) - right },
    ended: termination === 'user_stop' || termination === 'terminal_tool',
    violations: violations.length,
    unconfirmed: violations.filter(({ rule }) => rule === 'unconfirmed_write').length,
    parseErrors: trajectory.parseErrors,
    toolMatch: gold.length === 0 ? 1 : matched / gold.length,
    sampledTokens: nodes.reduce((sum, { mask }) => sum + mask.reduce((ones, m) => ones + m, 0), 0),
    handovers: gold.some(({ name }) => transfersOf(task.domain).includes(name)) ? 0 : transfersIn(trajectory),
  };
}

/** The gold's calls as tau2-bench checks them. The summary of a transfer is free text, so it is not compared. */
function goldOf({ domain, actions, benchmark }: Task): GoldAction[] {
  const transfers = transfersOf(domain);
  const { evaluation_criteria } = (benchmark ?? {}) as { evaluation_criteria?: EvaluationCriteria | null };
  const gold = evaluation_criteria?.actions ?? actions;
  return gold.map((action) => (transfers.includes(action.name) ? { ...action, compare_args: [] } : action));
}
