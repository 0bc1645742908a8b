import type { Algorithm } from './types.ts';

export const mtGrpo: Algorithm = {
  label: 'MT-GRPO',
  description:
    'Multi-turn GRPO. Each turn of the agent has a reward: the rows that it made right minus those that it damaged. The rewards of a turn are compared with those of the same turn in the other rollouts of the group. The advantage of a turn is the sum of these comparisons from this turn on, plus the advantage of the outcome. So a turn is not blamed for what happened before it. If only one rollout has a turn of this number, the turn’s own reward is not compared.',
  source: 'Reinforcing Multi-Turn Reasoning in LLM Agents, arXiv 2505.11821. Neither verl nor TRL has this estimator.',
  settings: () => ({ adv_estimator: 'mt_grpo', norm_adv_by_std_in_grpo: true, gamma: 1, 'reward.turn': 1 }),
};
