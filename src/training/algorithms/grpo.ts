import type { Algorithm } from './types.ts';

export const grpo: Algorithm = {
  label: 'GRPO',
  description:
    'Group relative policy optimization. The advantage of a rollout is its reward minus the mean reward of its group, divided by the standard deviation of the group’s rewards. No second network estimates values. The probability ratio of each token is clipped as in PPO.',
  source: 'DeepSeekMath, arXiv 2402.03300. verl: adv_estimator=grpo. TRL: GRPOTrainer.',
  settings: () => ({ adv_estimator: 'grpo', norm_adv_by_std_in_grpo: true, loss_mode: 'vanilla', loss_agg_mode: 'token-mean' }),
};
