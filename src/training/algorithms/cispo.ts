import { miniBatchFor, type Algorithm } from './types.ts';

export const cispo: Algorithm = {
  label: 'CISPO',
  description:
    'Clipped importance sampling policy optimization. PPO’s clip drops the gradient of a token whose ratio left the range. CISPO limits only the weight of such a token, so that rare but decisive tokens still learn. Only large ratios are limited. A step makes two updates, as in verl’s recipe, because the ratio is 1 in the first.',
  source:
    'MiniMax-M1, arXiv 2506.13585. verl: policy_loss.loss_mode=cispo. TRL: loss_type=cispo, whose epsilon_high is 1 + clip_ratio_high.',
  settings: (config) => ({
    loss_mode: 'cispo',
    clip_ratio_low: 10,
    clip_ratio_high: 0.2,
    ppo_mini_batch_size: miniBatchFor(2, config),
  }),
};
