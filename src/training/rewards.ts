/**
 * @file The reward of training: a weighted sum of terms. By default it is only the binary outcome, as in MUA-RL. Evaluation
 * never uses this reward: held-out success is always the binary outcome, `Trajectory.reward`.
 */
import { path } from '../base/message-path.ts';
import { isProper } from '../agent/rules.ts';
import { totalReward } from '../base/total-reward.ts';
import { actionMatches } from '../domains/exact/criteria.ts';
import { transfersOf } from '../domains/registry.ts';
import { countRight } from '../environments/verifier.ts';
import type { EvaluationCriteria, GoldAction } from '../records/benchmark-task.ts';
import { REWARD_TERMS, type RewardTerm, type RewardTerms, type RewardSettings } from '../records/rewards.ts';
import type { Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { PAPER } from './defaults.ts';
import { turnsOf } from './turn-rewards.ts';

/** How many times the agent transfers the customer to a human. */
export const transfersIn = ({ task, toolCalls }: Pick<Trajectory, 'task' | 'toolCalls'>): number =>
  transfersOf(task.domain).reduce((count, tool) => count + (toolCalls[tool] ?? 0), 0);

/** Whether the gold actions of a task transfer the customer to a human. */
export const mustTransfer = ({ domain, actions }: Task): boolean => actions.some(({ name }) => transfersOf(domain).includes(name));

const PRICES: ReadonlySet<RewardTerm> = new Set(['unconfirmed_write', 'length', 'handover']);

/** The facts about a conversation from which the reward is computed. */
export interface RewardFacts {
  /** The verdict of the episode. 0 if the rules require that the conversation ends properly, and it does not. */
  outcome: number;
  /**
   * `goal`: rows that the gold actions change. `right`: those of them that the agent changed rightly. `damaged`: rows that the
   * agent changed otherwise than the gold actions.
   */
  rows: { goal: number; right: number; damaged: number };
  /** The sum of the rewards of the agent's turns (`turn-rewards.ts`), which can be negative. */
  turns: number;
  /** Whether the customer or a tool ended the conversation. False if a limit or an error ended it. */
  ended: boolean;
  /** The number of violations that the audit found. 0 if the domain has no audit. */
  violations: number;
  /** The number of writes to which the customer did not say yes. */
  unconfirmed: number;
  /** The number of turns of the agent that could not be parsed. */
  parseErrors: number;
  /** The share of the gold tool calls that were made, from 0 to 1. It is 1 if there are no gold calls. */
  toolMatch: number;
  sampledTokens: number;
  /** The mean score of the comparisons by a judge. 0 if no judge compared the answer. */
  judged: number;
  /** The number of transfers to a human. 0 if the gold actions also have a transfer. */
  handovers: number;
}

/**
 * The value of each term, before its weight. Values of terms that are not prices are at most 1. Only `turn` can be negative.
 *
 * - outcome: the binary outcome
 * - partial: max(0, right − damaged) / goal rows if the gate holds, else 0. If the gold actions change no row: 1 if nothing
 *   was changed, else 0. The gate `ended` holds if the conversation ended properly. The gate `no_violations` also requires
 *   that the audit found no violation.
 * - turn: the sum of the rewards of the agent's turns
 * - format: 1 if every turn could be parsed, else 0
 * - tool_match: the share of the gold calls that were made
 * - judge: the mean score of the comparisons with the other answers of the group: 1 for a win, ½ for a tie
 * - unconfirmed_write: the number of writes to which the customer did not say yes
 * - length: sampled tokens / 100
 * - handover: the number of transfers to a human, but 0 if the gold actions have a transfer
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
    case 'turn':
      return facts.turns;
    case 'format':
      return Number(facts.parseErrors === 0);
    case 'tool_match':
      return facts.toolMatch;
    case 'judge':
      return facts.judged;
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

/**
 * Whether the reward is more than the plain outcome. The setting of the gate has no effect alone. Imported runs may lack these
 * settings.
 */
export const isShaped = (settings: Partial<RewardSettings>): boolean =>
  REWARD_TERMS.some((term) => {
    const plain = PAPER[`reward.${term}`];
    return (settings[`reward.${term}`] ?? plain) !== plain;
  });

export function rewardFrom(facts: RewardFacts, settings: RewardSettings): Reward {
  const terms: RewardTerms = {};
  for (const term of REWARD_TERMS) {
    const weight = settings[`reward.${term}`];
    // The settings of earlier runs lack later terms.
    if (!weight) continue;
    const value = weight * valueOf(term, facts, settings['reward.partial_gate']);
    terms[term] = PRICES.has(term) && value !== 0 ? -value : value;
  }
  return { total: totalReward({ reward: 0, rewards: terms }), terms };
}

/** The reward of a scored trajectory. An unscored trajectory has outcome 0. */
export const rewardOf = (trajectory: Trajectory, settings: RewardSettings): Reward => rewardFrom(factsOf(trajectory), settings);

/** Stores the terms of the reward in a scored trajectory, if the reward is more than the outcome. */
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
    turns: verdict ? turnsOf(trajectory).reduce((sum, { reward }) => sum + reward, 0) : 0,
    ended: isProper(termination),
    violations: violations.length,
    unconfirmed: violations.filter(({ rule }) => rule === 'unconfirmed_write').length,
    parseErrors: trajectory.parseErrors,
    toolMatch: gold.length === 0 ? 1 : matched / gold.length,
    sampledTokens: nodes.reduce((sum, { mask }) => sum + mask.reduce((ones, m) => ones + m, 0), 0),
    judged: trajectory.judged?.value ?? 0,
    handovers: gold.some(({ name }) => transfersOf(task.domain).includes(name)) ? 0 : transfersIn(trajectory),
  };
}

/** The gold calls, in the form in which tau2-bench compares them. The summary of a transfer is free text, so it is not compared. */
function goldOf({ domain, actions, benchmark }: Task): GoldAction[] {
  const transfers = transfersOf(domain);
  const { evaluation_criteria } = (benchmark ?? {}) as { evaluation_criteria?: EvaluationCriteria | null };
  const gold = evaluation_criteria?.actions ?? actions;
  return gold.map((action) => (transfers.includes(action.name) ? { ...action, compare_args: [] } : action));
}
