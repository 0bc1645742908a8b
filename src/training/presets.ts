/** @file The presets: what a run does unless told otherwise. No code, so that the first page load stays small. */
import type { GrpoConfig, SftConfig } from './types.ts';

/** The paper's own settings (MUA-RL `mua_grpo.sh`); presets say what they change. */
export const PAPER: GrpoConfig = {
  domain: 'retail',
  level: 'full',
  train_batch_size: 32,
  n: 8,
  ppo_mini_batch_size: 32,
  ppo_epochs: 1,
  norm_adv_by_std_in_grpo: true,
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.2,
  clip_ratio_c: 3,
  use_kl_loss: true,
  kl_loss_coef: 0.001,
  kl_loss_type: 'low_var_kl',
  entropy_coeff: 0,
  loss_agg_mode: 'token-mean',
  train_split: 'heldout',
  filter_noop_tasks: false,
  check_outputs: false,
  conversation_rules: 'mua_rl',
  mask_truncated: false,
  filter_groups: false,
  lr: 1e-6,
  lr_scheduler_type: 'constant',
  lr_warmup_steps: 0,
  weight_decay: 0.01,
  beta1: 0.9,
  beta2: 0.999,
  adam_eps: 1e-8,
  grad_clip: 1,
  total_training_steps: 150,
  test_freq: 5,
  val_tasks: 165,
  save_freq: 10,
  inspect: true,
  seed: 1,
  max_turns: 30,
  response_length_one_turn: 1024,
  max_model_len: 32768,
  malformed_policy: 'end',
  require_done: false,
  temperature: 1,
  top_p: 1,
  top_k: 0,
};

/** A nano model learns with larger steps, shorter conversations and errors fed back. */
const NANO: GrpoConfig = {
  ...PAPER,
  level: 'nano',
  train_batch_size: 8,
  ppo_mini_batch_size: 8,
  train_split: 'train',
  check_outputs: true,
  conversation_rules: 'domain',
  filter_groups: true,
  lr: 4e-4,
  lr_scheduler_type: 'linear',
  lr_warmup_steps: 3,
  weight_decay: 0,
  total_training_steps: 40,
  test_freq: 10,
  val_tasks: 64,
  save_freq: 10,
  max_turns: 24,
  response_length_one_turn: 96,
  max_model_len: 1024,
  malformed_policy: 'feedback',
  require_done: true,
  // The bundled model has seen the tasks of seeds 1 and 2.
  seed: 42,
};

export interface Preset {
  label: string;
  description: string;
  model: string;
  config: GrpoConfig;
}

export const DEFAULT_PRESET = 'nano';

export const PRESETS: Record<string, Preset> = {
  nano: {
    label: 'Nano retail',
    description: 'Eight customers a step, eight tries each, forty steps: learns to act instead of claiming or giving up.',
    model: 'nano-retail',
    config: NANO,
  },
  tiny: {
    label: 'Tiny (a quick look)',
    description: 'Two customers a step, four tries each, five steps: shows every part moving, learns little.',
    model: 'nano-retail',
    config: { ...NANO, train_batch_size: 2, ppo_mini_batch_size: 2, n: 4, total_training_steps: 5, test_freq: 0, val_tasks: 8, save_freq: 1 },
  },
  'nano-32': {
    label: 'Nano retail, the paper’s batch',
    description: 'Thirty-two customers a step, eight tries each, as MUA-RL: for a real GPU.',
    model: 'nano-retail',
    config: { ...NANO, train_batch_size: 32, ppo_mini_batch_size: 32, total_training_steps: 150, val_tasks: 200 },
  },
  faithful: {
    label: 'Nano retail, as MUA-RL’s code does it',
    description: 'Every switch and the batch as in MUA-RL, its flaws too (it trains on the tasks it is evaluated on); only lengths and learning rate fit the small model.',
    model: 'nano-retail',
    config: { ...PAPER, level: NANO.level, lr: NANO.lr, response_length_one_turn: NANO.response_length_one_turn, max_model_len: NANO.max_model_len },
  },
};

/** Streams of a run's evaluations lie above those of any training step. */
export const EVALUATION_STREAM = 0xe0000000;

/** Limits of an evaluation: those of the preset that trains at this level, else the paper's with less room. */
export function limitsFor(domain: string, level: string): GrpoConfig {
  const preset = Object.values(PRESETS).find(({ config }) => config.domain === domain && config.level === level);
  return preset?.config ?? { ...NANO, domain, level, max_model_len: 8192, response_length_one_turn: 1024, max_turns: 30 };
}

export const SFT_DEFAULTS: SftConfig = {
  train_batch_size: 16,
  lr: 1e-3,
  lr_scheduler_type: 'cosine',
  lr_warmup_steps: 20,
  weight_decay: 0.01,
  beta1: 0.9,
  beta2: 0.95,
  adam_eps: 1e-8,
  grad_clip: 1,
  total_training_steps: 0,
  max_model_len: 16384,
  seed: 1,
};
