/**
 * @file Example rollouts of one task, which show the effect of the reward settings. The task is to change two orders, with four tool calls.
 */
import type { RewardFacts } from '../../training/rewards.ts';

const PERFECT: RewardFacts = {
  outcome: 1,
  rows: { goal: 2, right: 2, damaged: 0 },
  turns: 1,
  ended: true,
  violations: 0,
  unconfirmed: 0,
  parseErrors: 0,
  toolMatch: 1,
  sampledTokens: 200,
  judged: 0,
  handovers: 0,
};

export const REWARD_EXAMPLES: readonly { label: string; facts: RewardFacts }[] = [
  { label: 'Perfect: asks, then changes both orders', facts: PERFECT },
  {
    label: 'Half right: asks, then changes one of the two orders',
    facts: { ...PERFECT, outcome: 0, rows: { goal: 2, right: 1, damaged: 0 }, turns: 0.5, toolMatch: 0.75, sampledTokens: 150 },
  },
  {
    label: 'Breaks a rule: changes both orders without asking',
    facts: { ...PERFECT, violations: 2, unconfirmed: 2, sampledTokens: 120 },
  },
  {
    label: 'Gives up: transfers the customer at once',
    facts: { ...PERFECT, outcome: 0, rows: { goal: 2, right: 0, damaged: 0 }, turns: 0, toolMatch: 0, sampledTokens: 20, handovers: 1 },
  },
];
