import { miniBatchFor, type Algorithm } from './types.ts';

export const cispo: Algorithm = {
  label: 'CISPO',
  description:
    'Clipped importance sampling policy optimization. PPO’s clip drops the gradient of a token whose ratio left the range. CISPO keeps this gradient and limits only its weight, so the update also uses rare but decisive tokens. Only large ratios are limited. In the first update of a step each ratio is 1 and nothing is limited, so a step makes two updates, as in verl’s recipe.',
  source:
    'MiniMax-M1, arXiv 2506.13585. verl: policy_loss.loss_mode=cispo. TRL: loss_type=cispo, whose epsilon_high is 1 + clip_ratio_high.',
  settings: (config) => ({
    loss_mode: 'cispo',
    clip_ratio_low: 10,
    clip_ratio_high: 0.2,
    ppo_mini_batch_size: miniBatchFor(2, config),
  }),
};
