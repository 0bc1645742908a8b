/**
 * @file Where MUA-RL's code leaves a choice, or has a flaw: what it does and what we do. A decision with a setting can be
 * made either way; its values are the presets' own (`faithful` does as upstream, the default preset as we do). The others
 * have one way here, for the reason given.
 */
import { DEFAULT_PRESET, PRESETS } from './presets.ts';
import type { GrpoConfig } from './types.ts';

export interface Decision {
  topic: string;
  upstream: string;
  ours: string;
  setting?: keyof GrpoConfig;
}

export const DECISIONS: readonly Decision[] = [
  { topic: 'split', setting: 'train_split', upstream: 'trains on the tasks it is evaluated on', ours: 'tasks of its own for training' },
  { topic: 'no-op tasks', setting: 'filter_noop_tasks', upstream: 'kept: 31 of 165 reward doing nothing', ours: 'kept where tasks are generated, as they teach to refuse; true leaves them out of training' },
  { topic: 'outputs', setting: 'check_outputs', upstream: 'emptied in training, checked in evaluation', ours: 'checked in both' },
  { topic: 'rules of conversation', setting: 'conversation_rules', upstream: 'its own on tau-bench’s tasks', ours: 'those of the domain’s benchmark' },
  { topic: 'reward needs an end', setting: 'require_done', upstream: 'no: any ending is scored', ours: 'yes: the user or a terminal tool ended it' },
  { topic: 'malformed call', setting: 'malformed_policy', upstream: 'ends the episode, which can still be rewarded', ours: 'is answered with the error, and costs a turn' },
  { topic: 'parallel calls', upstream: 'all but the first are dropped and left out of the text', ours: 'sampling stops at the first call: nothing is there to drop' },
  { topic: 'history', upstream: 'messages are rendered again from text', ours: 'sampled tokens stay as they are; training and evaluation share one template' },
  { topic: 'cut turns', setting: 'mask_truncated', upstream: 'trained, with an end of turn the model never wrote', ours: 'trained, without that token; true leaves cut episodes out of the update' },
  { topic: 'stop message', upstream: 'in the context, not trained', ours: 'the same' },
  { topic: 'updates a batch', setting: 'ppo_mini_batch_size', upstream: 'one: clipping never binds', ours: 'one; a smaller mini-batch makes more' },
  { topic: 'token mean', setting: 'loss_agg_mode', upstream: 'of each micro-batch, then over those', ours: 'of the whole mini-batch' },
  { topic: 'spread of advantages', setting: 'norm_adv_by_std_in_grpo', upstream: 'sample standard deviation, plus 1e-6', ours: 'the same' },
  { topic: 'groups of equal rewards', setting: 'filter_groups', upstream: 'trained on, with the KL term alone', ours: 'left out of the update, and counted' },
  { topic: 'entropy and advantage metrics', upstream: 'count tokens of tools and user too', ours: 'sampled tokens only' },
  { topic: 'comparing databases', upstream: 'a hash of Python’s text: 5 is not 5.0', ours: 'changed rows as canonical JSON: 5 is 5.0' },
  { topic: 'amounts of money', upstream: 'floats and Python’s round', ours: 'whole cents in generated shops, Python’s round on imports' },
  { topic: 'simulated user', upstream: 'GPT-4o at temperature 0, its first message frozen', ours: 'scripted, or any endpoint (`--user`); a group shares the user’s seed' },
  { topic: 'what the user sees', upstream: 'spoken text only', ours: 'the same' },
  { topic: 'reward', upstream: 'at the end only', ours: 'the same' },
  { topic: 'turns', setting: 'max_turns', upstream: 'tool results and user replies, 30', ours: 'counted alike; fewer on small worlds' },
];

/** The setting's value in the preset that does as upstream, and in ours; null where there is no setting. */
export function valuesOf({ setting }: Decision): { faithful: GrpoConfig[keyof GrpoConfig]; ours: GrpoConfig[keyof GrpoConfig] } | null {
  return setting === undefined ? null : { faithful: PRESETS.faithful!.config[setting], ours: PRESETS[DEFAULT_PRESET]!.config[setting] };
}
