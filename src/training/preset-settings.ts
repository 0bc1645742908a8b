/** @file The settings of the presets. This file contains almost no code, so that the first page load stays small. */
import { levelConditions } from '../domains/registry.ts';
import { conditionSettings, RELIABLE, shares } from '../environments/conditions.ts';
import type { GrpoConfig } from '../records/run.ts';
import { PAPER, SFT_DEFAULTS } from './defaults.ts';

/** A nano model needs a higher learning rate and shorter conversations, and gets its parse errors as feedback. */
export const NANO: GrpoConfig = {
  ...PAPER,
  level: 'nano',
  ...conditionSettings(levelConditions('retail', 'nano')),
  train_batch_size: 8,
  ppo_mini_batch_size: 8,
  ppo_micro_batch_size_per_gpu: 0,
  train_split: 'train',
  check_outputs: true,
  conversation_rules: 'domain',
  filter_groups: true,
  // The penalty is off. If it is switched on, this is a fifth of max_model_len, as in DAPO.
  'overlong_buffer.len': 204,
  'overlong_buffer.penalty_factor': 1,
  lr: 4e-4,
  lr_scheduler_type: 'linear',
  lr_warmup_steps: 3,
  weight_decay: 0,
  decay_all_parameters: false,
  total_training_steps: 40,
  test_freq: 10,
  val_tasks: 64,
  'val_kwargs.do_sample': true,
  save_freq: 10,
  max_turns: 24,
  response_length_one_turn: 96,
  max_model_len: 1024,
  malformed_policy: 'feedback',
  require_done: true,
  // Seeds 1 and 2 are not used here, because the bundled model was trained on their tasks.
  seed: 42,
};

/** This preset suits a model of one million parameters. Its tasks also have returns, exchanges and changes of items. */
export const SMALL: GrpoConfig = {
  ...NANO,
  level: 'small',
  ...conditionSettings(levelConditions('retail', 'small')),
  lr: 3e-4,
  // The agent names items, options and ids before it makes a call, so it needs long turns.
  response_length_one_turn: 160,
  max_model_len: 2048,
  'overlong_buffer.len': 409,
};

/**
 * This preset suits a model of 100 thousand parameters and conversations of about 100 tokens. Learning is visible in about a
 * minute.
 */
export const GLIMPSE: GrpoConfig = {
  ...NANO,
  level: 'glimpse',
  ...conditionSettings(levelConditions('retail', 'glimpse')),
  train_batch_size: 6,
  ppo_mini_batch_size: 6,
  use_kl_loss: false,
  lr: 1e-3,
  lr_scheduler_type: 'constant',
  lr_warmup_steps: 0,
  // With this epsilon, weights with small gradients change little. Such gradients are mostly noise.
  adam_eps: 1e-3,
  total_training_steps: 10,
  // An evaluation takes as much time as a step, so there are few.
  test_freq: 10,
  val_tasks: 96,
  save_freq: 0,
  max_turns: 10,
  response_length_one_turn: 32,
  max_model_len: 384,
};

/** Half of the customers change their mind, the others are upfront, and many calls time out. */
export const TIMEOUTS: GrpoConfig = {
  ...GLIMPSE,
  ...conditionSettings({ customers: shares({ upfront: 0.5, changes_mind: 0.5 }), tools: { ...RELIABLE, timeouts: 0.8 } }),
  // The demonstrators of the model's cold start.
  'demonstrators.careful.calls_again': 0.05,
  'demonstrators.brisk.calls_again': 1,
  // In the experiment timeouts-rates-short, 40 steps with a higher rate ended anywhere between 0 and 82 %.
  adam_eps: 1e-8,
  lr: 5e-4,
  total_training_steps: 120,
  test_freq: 40,
  max_model_len: 512,
};

/**
 * Trains adapters on a Qwen model of half a billion parameters or more. The number of turns, their length, the schedule of the
 * learning rate and the number of steps are those of MUA-RL's script. The other values listed here were chosen, and no run has
 * tested them.
 */
export const LORA: GrpoConfig = {
  ...NANO,
  level: 'full',
  ...conditionSettings(levelConditions('retail', 'full')),
  lora_rank: 16,
  lora_alpha: 32,
  precision: 'bf16',
  kv_cache_tokens: 32_768,
  lr: 2e-5,
  lr_scheduler_type: 'constant',
  total_training_steps: 150,
  val_tasks: 50,
  val_before_train: false,
  max_turns: PAPER.max_turns,
  response_length_one_turn: PAPER.response_length_one_turn,
  max_model_len: 16_384,
  'overlong_buffer.len': 3276,
};

/**
 * Trains adapters on a pretrained model of 135 million parameters, in the shortest conversations. The limits of turns and contexts are
 * those of its own tokenizer, which needs about twice as many tokens as ours. Without the cold start, the model knows no tools.
 */
export const SMOLLM2: GrpoConfig = {
  ...GLIMPSE,
  train_batch_size: 4,
  ppo_mini_batch_size: 4,
  lora_rank: 16,
  lora_alpha: 32,
  precision: 'bf16',
  // Chosen with the experiment smollm2-rates.
  lr: 1e-4,
  lr_warmup_steps: 3,
  adam_eps: 1e-8,
  val_before_train: false,
  test_freq: 0,
  response_length_one_turn: 96,
  max_model_len: 768,
  'overlong_buffer.len': 154,
};

/**
 * The cold start of a pretrained model: 504 conversations of both demonstrators, as in scripts/smollm2-cold-start.sh. GRPO must not see
 * the tasks of this seed again.
 */
export const COLD: Partial<GrpoConfig> = {
  algorithm: 'sft',
  total_training_steps: 63,
  // Only n × train_batch_size matters to supervised fine-tuning.
  train_batch_size: 1,
  ppo_mini_batch_size: 1,
  n: 8,
  sft_mini_batch_size: 8,
  lr: 1e-3,
  lr_scheduler_type: 'linear',
  lr_warmup_steps: 5,
  weight_decay: SFT_DEFAULTS.weight_decay,
  beta2: SFT_DEFAULTS.beta2,
  val_tasks: 0,
  seed: 7,
};

/**
 * Trains adapters on a small model that speaks English, in conversations of one turn. No run has tested these values. Higher
 * rates without a warm-up made such a model collapse at other tasks.
 */
export const QUESTION: GrpoConfig = {
  ...NANO,
  domain: 'chat',
  level: 'question',
  ...conditionSettings(levelConditions('chat', 'question')),
  lora_rank: 16,
  lora_alpha: 32,
  use_kl_loss: false,
  lr: 1e-4,
  lr_scheduler_type: 'constant',
  lr_warmup_steps: 5,
  total_training_steps: 40,
  test_freq: 20,
  val_tasks: 48,
  val_before_train: false,
  max_turns: 2,
  response_length_one_turn: 96,
  max_model_len: 256,
  'overlong_buffer.len': 51,
  malformed_policy: 'as_text',
};
