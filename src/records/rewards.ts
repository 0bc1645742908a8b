/** @file The settings of the training reward: its terms, with their weights and prices. `src/training/rewards.ts` has the formulas. */

/** The terms of the reward. The last three are prices: they are subtracted. */
export const REWARD_TERMS = [
  'outcome',
  'partial',
  'turn',
  'format',
  'tool_match',
  'judge',
  'unconfirmed_write',
  'length',
  'handover',
] as const;
export type RewardTerm = (typeof REWARD_TERMS)[number];

/** The condition for partial credit. `ended`: the rollout ended properly. `no_violations`: it also has no violations. */
export type PartialGate = 'ended' | 'no_violations';

/** Weights and prices, 0 or more. 0 turns a term off. */
export type RewardSettings = { [P in RewardTerm as `reward.${P}`]: number } & { 'reward.partial_gate': PartialGate };

/** How a judge compared the answer of a rollout with the other answers to the same prompt. */
export interface Judged {
  /** The server and the model that judged. */
  judge: string;
  /** The sentence that a better answer fits better. */
  wish: string;
  /** The answer of the model before step 1, if it took part. */
  original?: string;
  /** The mean score of the comparisons, from 0 to 1. */
  value: number;
  comparisons: {
    /** The index of the other rollout. Null for the original answer. */
    with: number | null;
    /** 1 for a win, ½ for a tie, 0 for a loss. With two verdicts, their mean. */
    score: number;
    /** The verdicts, and whether this rollout's answer came first. Empty if the judge was not asked, as the answers are equal or one is not complete. */
    verdicts: { first: boolean; score: number }[];
  }[];
}

/**
 * Term → its weighted contribution to the reward of a rollout. Prices are negative. Terms that are turned off are absent. Rollouts of other
 * tools have other terms.
 */
export type RewardTerms = Record<string, number>;
