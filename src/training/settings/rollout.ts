/** @file The settings for the groups of a step, which rollouts the update uses, the limits of a conversation, and sampling. */
import { z } from 'zod';
import { amount, count, natural, settingGroup } from './setting.ts';

export const rollout = settingGroup({
  id: 'rollout',
  title: 'Group and rollout',
  settings: {
    n: {
      schema: count,
      default: 8,
      label: 'Rollouts per task',
      help: 'The group size, at least 2. A rollout’s advantage is relative to the mean reward of its group.',
      trl: 'num_generations',
      verl: 'actor_rollout_ref.rollout.n',
    },
    train_batch_size: {
      schema: count,
      default: 32,
      sft: 16,
      label: 'Tasks per step',
      help: 'The number of different tasks in one step.',
      verl: 'data.train_batch_size',
    },
    filter_groups: {
      schema: z.boolean(),
      default: false,
      label: 'Leave out uniform groups',
      help: 'If true, the update leaves out groups whose rewards are all equal, because they have no policy gradient. The average of the loss still counts their tokens.',
      alias: 'filter_groups.enable',
      choice: {
        topic: 'groups of equal rewards',
        upstream: 'trained on, with the KL term alone',
        ours: 'left out of the update; they still count in the average',
      },
    },
    'filter_groups.max_num_gen_batches': {
      schema: natural,
      default: 1,
      label: 'Maximum batches of tasks',
      help: 'Only with “Leave out uniform groups”. A step plays up to this many batches of tasks, until enough groups are mixed. 0: no limit.',
      choice: {
        topic: 'refill of mixed groups',
        upstream: 'none',
        ours: 'none; a larger number, or 0 for no limit, plays further tasks as in DAPO. If mixed groups are still too few, verl stops with an error; this project trains on those it has',
      },
    },
    mask_truncated: {
      schema: z.boolean(),
      default: false,
      label: 'Leave out truncated rollouts',
      help: 'If true, the update leaves out rollouts in which a token limit cut a message or the conversation.',
      choice: {
        topic: 'cut turns',
        upstream: 'trained on, with an end-of-turn token that the model never wrote',
        ours: 'trained on, without that token; true leaves cut episodes out of the update',
      },
    },
    user_faults: {
      schema: z.enum(['keep', 'drop']),
      default: 'keep',
      label: 'Customers with faults',
      help: 'An audit finds faults of the customer, such as invented facts or an early end. keep: the update uses rollouts with such faults. drop: it leaves them out.',
    },
    'overlong_buffer.enable': {
      schema: z.boolean(),
      default: false,
      label: 'Penalty for length',
      help: 'Subtracts a penalty from the reward of long conversations, in training only. The penalty grows towards the maximum length.',
      choice: {
        topic: 'penalty for length',
        upstream: 'none',
        ours: 'none; true takes DAPO’s penalty off the reward near the length limit',
      },
    },
    'overlong_buffer.len': {
      schema: natural,
      default: 0,
      label: 'Tokens with penalty',
      help: 'The penalty grows over this many tokens before the maximum length.',
    },
    'overlong_buffer.penalty_factor': {
      schema: amount,
      default: 0,
      label: 'Largest penalty',
      help: 'The penalty of a conversation of the maximum length.',
    },
    max_turns: {
      schema: count,
      default: 30,
      label: 'Maximum turns',
      help: 'The maximum number of tool results and customer replies in a conversation.',
      choice: {
        topic: 'turn limit',
        upstream: '30 tool results and user replies',
        ours: 'counted in the same way; fewer in small worlds',
      },
    },
    response_length_one_turn: {
      schema: count,
      default: 1024,
      label: 'Tokens per message',
      help: 'The maximum length of one message of the agent.',
    },
    max_model_len: {
      schema: count,
      default: 32768,
      sft: 16384,
      label: 'Tokens per conversation',
      help: 'The maximum length of the whole sequence: rules, tools, messages and tool results.',
      verl: 'actor_rollout_ref.rollout.max_model_len',
    },
    temperature: {
      schema: amount,
      default: 1,
      label: 'Temperature',
      help: '1 samples from the model’s own distribution. A lower value favours likely tokens. 0 always takes the most likely token.',
      verl: 'actor_rollout_ref.rollout.temperature',
    },
    top_p: {
      schema: z.number().gt(0).max(1),
      default: 1,
      label: 'top_p',
      help: 'Samples from the most likely tokens whose probabilities sum to this value. 1 samples from all tokens.',
      verl: 'actor_rollout_ref.rollout.top_p',
    },
    top_k: {
      schema: natural,
      default: 0,
      label: 'top_k',
      help: 'Samples from this many most likely tokens. 0 samples from all tokens.',
    },
  },
  choices: [
    {
      topic: 'groups of one rollout',
      upstream: 'the advantage is the reward',
      ours: 'left out of the update: a rollout alone has nothing to compare with',
    },
  ],
});
