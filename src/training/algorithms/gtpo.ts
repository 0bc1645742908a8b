import type { Algorithm } from './types.ts';

export const gtpo: Algorithm = {
  label: 'GTPO',
  description:
    'The hybrid of MT-GRPO and GTPO that was made for customer service with tools. The rewards of a turn and of all later turns, and the outcome, are first summed with a discount. Then the sum is compared with that of the same turn in the other rollouts. The advantage of the outcome is added with a small weight. The order matters: if each reward is compared first, a good turn of a failed conversation can get a negative advantage. The discount favours short conversations, so a group with equal rewards also has a gradient, and each group is in the update.',
  source:
    'Multi-Turn Reinforcement Learning for Tool-Calling Agents, arXiv 2604.02869, with the discounted returns of GTPO (arXiv 2511.14846). Neither verl nor TRL has this estimator.',
  settings: () => ({
    adv_estimator: 'gtpo',
    norm_adv_by_std_in_grpo: true,
    gamma: 0.9,
    outcome_advantage_coef: 0.3,
    'reward.turn': 1,
    filter_groups: false,
  }),
};
