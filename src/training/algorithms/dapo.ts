import { miniBatchFor, type Algorithm } from './types.ts';

export const dapo: Algorithm = {
  label: 'DAPO',
  description:
    'Four changes to GRPO: a higher upper clip, which lets rare tokens grow; further tasks until enough groups are mixed; a mean over tokens instead of sequences; and a penalty for conversations close to the length limit. There is no KL loss. The paper makes 16 updates of 512 tasks; a batch here is small and makes two. The penalty begins at four fifths of the limit, as in the paper.',
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
