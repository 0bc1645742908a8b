/** @file The reward of training as settings: its terms, their weights and their prices. `src/training/rewards.ts` has the formulas. */

/** The terms of the reward. The last three are prices: they are subtracted. */
export const REWARD_TERMS = ['outcome', 'partial', 'format', 'tool_match', 'unconfirmed_write', 'length', 'handover'] as const;
export type RewardTerm = (typeof REWARD_TERMS)[number];

/** What a rollout must fulfil to earn partial credit. */
export type PartialGate = 'ended' | 'no_violations';

/** Weights and prices, 0 or more. 0 turns a term off. */
export type RewardSettings = { [P in RewardTerm as `reward.${P}`]: number } & { 'reward.partial_gate': PartialGate };

/** What each term that is switched on adds to the reward of a rollout, weight included. Prices are negative. */
export type RewardTerms = Partial<Record<RewardTerm, number>>;
