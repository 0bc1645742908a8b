import type { Algorithm } from './types.ts';

export const reinforcePlusPlus: Algorithm = {
  label: 'REINFORCE++',
  description:
    'There is no baseline per group. The rewards of all rollouts of a step are shifted and scaled to mean 0 and standard deviation 1, where a reward counts once for each token of its rollout. So a group with equal rewards also has a gradient, and each group is in the update. verl’s recipe subtracts the KL divergence from the reward; here it stays in the loss.',
  source: 'REINFORCE++, arXiv 2501.03262. verl: adv_estimator=reinforce_plus_plus, gamma=1.',
  settings: () => ({ adv_estimator: 'reinforce_plus_plus', gamma: 1, filter_groups: false }),
};
