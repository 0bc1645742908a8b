/** @file The settings of the training reward: its terms, with their weights and prices. `src/training/rewards.ts` has the formulas. */

/** The terms of the reward. The last three are prices: they are subtracted. */
export const REWARD_TERMS = ['outcome', 'partial', 'turn', 'format', 'tool_match', 'unconfirmed_write', 'length', 'handover'] as const;
export type RewardTerm = (typeof REWARD_TERMS)[number];

/** The condition for partial credit. `ended`: the rollout ended properly. `no_violations`: it also has no violations. */
export type PartialGate = 'ended' | 'no_violations';

/** Weights and prices, 0 or more. 0 turns a term off. */
export type RewardSettings = { [P in RewardTerm as `reward.${P}`]: number } & { 'reward.partial_gate': PartialGate };

/** Term → its weighted contribution to the reward of a rollout. Prices are negative. Terms that are turned off are absent. */
export type RewardTerms = Partial<Record<RewardTerm, number>>;
