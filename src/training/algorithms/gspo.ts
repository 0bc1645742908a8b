import { miniBatchFor, type Algorithm } from './types.ts';

export const gspo: Algorithm = {
  label: 'GSPO',
  description:
    'Group sequence policy optimization. All tokens of a rollout share one probability ratio, the geometric mean of their ratios, and the clip keeps or drops a whole rollout. In the first update of a step each ratio is 1 and nothing is clipped, so a step makes four updates. There is no KL loss. The clip range is ten times the paper’s (3e-4 and 4e-4), because an update here moves the ratios farther. With the paper’s range, two fifths of the tokens were clipped.',
  source:
    'Group Sequence Policy Optimization, arXiv 2507.18071 §5.1. verl: policy_loss.loss_mode=gspo. TRL: importance_sampling_level=sequence.',
  settings: (config) => ({
    loss_mode: 'gspo',
    loss_agg_mode: 'seq-mean-token-mean',
    clip_ratio_low: 3e-3,
    clip_ratio_high: 4e-3,
    use_kl_loss: false,
    ppo_mini_batch_size: miniBatchFor(4, config),
  }),
};
