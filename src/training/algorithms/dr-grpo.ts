import type { Algorithm } from './types.ts';

export const drGrpo: Algorithm = {
  label: 'Dr. GRPO',
  description:
    'GRPO “done right”. Its authors remove two divisions from GRPO. The division by the standard deviation favours tasks that nearly always succeed or fail. The division by the length favours long failures. The sum over tokens is divided by a constant instead: the number of sequences in an update times the largest length, as in the paper. There is no KL loss. (verl’s default constant does not contain the number of sequences, and verl’s recipe does not change it.)',
  source: 'Understanding R1-Zero-Like Training, arXiv 2503.20783. verl: docs of GRPO, section DrGRPO. TRL: loss_type=dr_grpo.',
  settings: ({ ppo_mini_batch_size, n, max_model_len }) => ({
    norm_adv_by_std_in_grpo: false,
    loss_agg_mode: 'seq-mean-token-sum-norm',
    loss_scale_factor: ppo_mini_batch_size * n * max_model_len,
    use_kl_loss: false,
  }),
};
