import type { Algorithm } from './types.ts';

export const rloo: Algorithm = {
  label: 'RLOO',
  description:
    'REINFORCE leave-one-out. The baseline of a rollout is the mean reward of the other rollouts of its group, so that the baseline does not depend on the rollout. The advantage is not divided by the standard deviation. verl’s recipe subtracts the KL divergence from the reward; here it stays in the loss. verl’s recipe makes four updates for each batch of 1024 tasks. A batch here is small, so a step makes one update.',
  source: 'Back to Basics, arXiv 2402.14740. verl: adv_estimator=rloo. TRL: RLOOTrainer, which clips one ratio per sequence.',
  settings: () => ({ adv_estimator: 'rloo' }),
};
