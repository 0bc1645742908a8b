/**
 * @file The decision sheet: where MUA-RL's code makes a choice, what that choice is, and what this project does. A decision
 * with a setting can be made either way: the preset `faithful` chooses as upstream, the default preset as we do. For a
 * decision without a setting, upstream's way is not available here.
 */
import { DEFAULT_PRESET, PAPER, PRESETS } from './presets.ts';
import type { GrpoConfig } from '../records/run.ts';

export interface Decision {
  topic: string;
  upstream: string;
  ours: string;
  setting?: keyof GrpoConfig;
}

export const DECISIONS: readonly Decision[] = [
  {
    topic: 'tasks to train on',
    setting: 'train_split',
    upstream: 'the tasks of the evaluation',
    ours: 'training tasks, which the evaluation never plays',
  },
  {
    topic: 'mixture of domains',
    upstream: '115 retail and 50 airline tasks in one training set',
    ours: 'one domain per run',
  },
  {
    topic: 'length of training',
    setting: 'total_training_steps',
    upstream: '30 epochs of 5 steps in the script; the paper says 25 epochs',
    ours: 'fewer steps, as generated tasks never repeat',
  },
  {
    topic: 'end of an epoch',
    upstream: 'the last 5 of 165 tasks are dropped, as they do not fill a batch',
    ours: 'no task is dropped: a batch can span two epochs',
  },
  {
    topic: 'no-op tasks',
    setting: 'filter_noop_tasks',
    upstream: 'trained on: 31 of 165 tasks give reward 1 for doing nothing',
    ours: 'trained on, because generated no-op tasks teach the agent to refuse; true replaces them by other tasks',
  },
  {
    topic: 'facts to tell the customer',
    setting: 'check_outputs',
    upstream: 'not checked in training, checked in evaluation',
    ours: 'checked in both',
  },
  {
    topic: 'rules of conversation',
    setting: 'conversation_rules',
    upstream: 'MUA-RL’s own rules, on tau-bench’s tasks',
    ours: 'the rules of the domain’s benchmark',
  },
  {
    topic: 'simulated user',
    upstream: 'GPT-4o at temperature 0',
    ours: 'the scripted customer, or a model at an endpoint (--user)',
  },
  {
    topic: 'first message of the user',
    upstream: 'written once per task before training, and then frozen',
    ours: 'written in each episode; the scripted customer writes the same text in all rollouts of a group',
  },
  { topic: 'what the user sees', upstream: 'spoken text only', ours: 'the same' },
  {
    topic: 'turn limit',
    setting: 'max_turns',
    upstream: '30 tool results and user replies',
    ours: 'counted in the same way; fewer in small worlds',
  },
  {
    topic: 'episodes that reach a limit',
    setting: 'require_done',
    upstream: 'scored like any other',
    ours: 'reward 0: the user or a terminal tool must end the episode',
  },
  {
    topic: 'malformed tool call',
    setting: 'malformed_policy',
    upstream: 'ends the episode, which can still get reward 1',
    ours: 'the agent is told the error; this costs a turn',
  },
  {
    topic: 'several tool calls in one message',
    upstream: 'all but the first are dropped and removed from the text',
    ours: 'sampling stops after the first call, so that nothing must be dropped',
  },
  {
    topic: 'history',
    upstream: 'messages are rendered and tokenized again from text',
    ours: 'sampled tokens are kept; training and evaluation use one template',
  },
  {
    topic: 'cut turns',
    setting: 'mask_truncated',
    upstream: 'trained on, with an end-of-turn token that the model never wrote',
    ours: 'trained on, without that token; true leaves cut episodes out of the update',
  },
  { topic: 'stop message', upstream: 'in the context, not trained on', ours: 'the same' },
  {
    topic: 'parts of the reward',
    setting: 'reward.partial',
    upstream: 'the binary outcome alone',
    ours: 'the same; the settings reward.* add parts or prices to the reward of training, never to that of evaluation',
  },
  { topic: 'time of the reward', upstream: 'only at the end', ours: 'the same' },
  { topic: 'comparison of databases', upstream: 'a hash of Python’s text: 5 is not 5.0', ours: 'changed rows as canonical JSON: 5 is 5.0' },
  {
    topic: 'amounts of money',
    upstream: 'floats and Python’s round',
    ours: 'whole cents in generated shops; Python’s round in imported benchmarks',
  },
  {
    topic: 'advantage estimator',
    setting: 'adv_estimator',
    upstream: 'GRPO: relative to the group’s mean reward',
    ours: 'the same; other estimators of verl can be set, or a whole algorithm chosen',
  },
  {
    topic: 'policy loss',
    setting: 'loss_mode',
    upstream: 'PPO’s clip for each token, with dual clip',
    ours: 'the same; gspo has one ratio per rollout, cispo clips the weight and keeps the gradient',
  },
  {
    topic: 'penalty for length',
    setting: 'overlong_buffer.enable',
    upstream: 'none',
    ours: 'none; true takes DAPO’s penalty off the reward near the length limit',
  },
  {
    topic: 'spread of advantages',
    setting: 'norm_adv_by_std_in_grpo',
    upstream: 'divided by the sample standard deviation plus 1e-6',
    ours: 'the same',
  },
  {
    topic: 'groups of one rollout',
    upstream: 'the advantage is the reward',
    ours: 'left out of the update: a rollout alone has nothing to compare with',
  },
  {
    topic: 'groups of equal rewards',
    setting: 'filter_groups',
    upstream: 'trained on, with the KL term alone',
    ours: 'left out of the update; they still count in the average',
  },
  {
    topic: 'refill of mixed groups',
    setting: 'filter_groups.max_num_gen_batches',
    upstream: 'none',
    ours: 'none; a larger number, or 0 for no limit, plays further tasks as in DAPO. If mixed groups are still too few, verl stops with an error; this project trains on those it has',
  },
  {
    topic: 'updates per batch',
    setting: 'ppo_mini_batch_size',
    upstream: 'one, so that clipping never has an effect',
    ours: 'one; a smaller mini-batch gives more updates',
  },
  {
    topic: 'token mean',
    setting: 'ppo_micro_batch_size_per_gpu',
    upstream: 'the mean of each micro-batch of 8 sequences, then the mean of these means',
    ours: 'the mean over all tokens of the mini-batch (0)',
  },
  {
    topic: 'weight decay',
    setting: 'decay_all_parameters',
    upstream: 'applied to all parameters',
    ours: 'not applied to norms and biases',
  },
  {
    topic: 'evaluation',
    setting: 'val_kwargs.do_sample',
    upstream: 'greedy: the most likely token each time',
    ours: 'sampled as in training, so that it measures the policy that is trained',
  },
  { topic: 'metrics of entropy and advantage', upstream: 'include tokens of tools and the user', ours: 'sampled tokens only' },
  {
    topic: 'metric of KL',
    upstream: 'the last micro-batch only',
    ours: 'all tokens of the update',
  },
];

/** The values of a decision's setting in MUA-RL's script and in our default preset; null if it has no setting. */
export function valuesOf({ setting }: Decision): { upstream: GrpoConfig[keyof GrpoConfig]; ours: GrpoConfig[keyof GrpoConfig] } | null {
  return setting === undefined ? null : { upstream: PAPER[setting], ours: PRESETS[DEFAULT_PRESET]!.config[setting] };
}
