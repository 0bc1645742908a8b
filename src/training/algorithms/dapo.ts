import { miniBatchFor, type Algorithm } from './types.ts';

export const dapo: Algorithm = {
  label: 'DAPO',
  description:
    'DAPO makes four changes to GRPO. A higher upper clip lets rare tokens become more likely. A step plays further tasks until enough groups are mixed. The loss is a mean over tokens instead of sequences. Conversations close to the length limit get a penalty, which begins at four fifths of the limit, as in the paper. There is no KL loss. The paper makes 16 updates for each batch of 512 tasks. A batch here is small, so a step makes two updates.',
  source: 'DAPO, arXiv 2503.14476 §4.1. verl: recipe dapo. TRL: loss_type=dapo.',
  settings: (config) => ({
    clip_ratio_low: 0.2,
    clip_ratio_high: 0.28,
    clip_ratio_c: 10,
    filter_groups: true,
    'filter_groups.max_num_gen_batches': 10,
    loss_agg_mode: 'token-mean',
    'overlong_buffer.enable': true,
    'overlong_buffer.len': Math.floor(config.max_model_len / 5),
    'overlong_buffer.penalty_factor': 1,
    use_kl_loss: false,
    ppo_mini_batch_size: miniBatchFor(2, config),
  }),
};
