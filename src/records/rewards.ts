/** @file The reward of training as settings: its parts, their weights and their prices. `src/training/rewards.ts` has the formulas. */

/** The parts of the reward. The last three are prices: they are subtracted. */
export const REWARD_PARTS = ['outcome', 'partial', 'format', 'tool_match', 'unconfirmed_write', 'length', 'handover'] as const;
export type RewardPart = (typeof REWARD_PARTS)[number];

/** What a rollout must fulfil to earn partial credit. */
export type PartialGate = 'ended' | 'no_violations';

/** Weights and prices, 0 or more. 0 turns a part off. */
export type RewardSettings = { [P in RewardPart as `reward.${P}`]: number } & { 'reward.partial_gate': PartialGate };

/** What each part that is switched on adds to the reward of a rollout, weight included. Prices are negative. */
export type RewardParts = Partial<Record<RewardPart, number>>;
