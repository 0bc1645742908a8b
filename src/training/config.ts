/** @file Presets and the reading of configuration: verl's names are canonical, TRL's are accepted. */
import { z } from 'zod';
import type { GrpoConfig, SftConfig } from './types.ts';

const count = z.int().min(1);
const natural = z.int().min(0);
const positive = z.number().positive();
const fraction = z.number().min(0).max(1);

const schedule = {
  lr: positive,
  lr_scheduler_type: z.enum(['constant', 'linear', 'cosine']),
  lr_warmup_steps: natural,
  weight_decay: z.number().min(0),
  beta1: fraction,
  beta2: fraction,
  adam_eps: positive,
  grad_clip: z.number().min(0),
  total_training_steps: natural,
  seed: natural.max(0xffffffff),
};

export const grpoSchema = z.strictObject({
  domain: z.string(),
  level: z.string(),
  train_batch_size: count,
  n: count,
  ppo_mini_batch_size: count,
  ppo_epochs: count,
  norm_adv_by_std_in_grpo: z.boolean(),
  clip_ratio_low: z.number().min(0).max(1),
  clip_ratio_high: z.number().min(0),
  clip_ratio_c: z.number().gt(1),
  use_kl_loss: z.boolean(),
  kl_loss_coef: z.number().min(0),
  kl_loss_type: z.enum(['k1', 'abs', 'k2', 'low_var_kl']),
  entropy_coeff: z.number(),
  loss_agg_mode: z.enum(['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean']),
  filter_groups: z.boolean(),
  ...schedule,
  test_freq: natural,
  val_tasks: natural,
  save_freq: natural,
  max_turns: count,
  response_length_one_turn: count,
  max_model_len: count,
  malformed_policy: z.enum(['end', 'feedback', 'as_text']),
  require_done: z.boolean(),
  temperature: z.number().min(0),
  top_p: z.number().gt(0).max(1),
  top_k: natural,
}) satisfies z.ZodType<GrpoConfig>;

export const sftSchema = z.strictObject({ train_batch_size: count, ...schedule, max_model_len: count }) satisfies z.ZodType<SftConfig>;

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
  filter_groups: true,
  lr: 1e-4,
  weight_decay: 0,
  total_training_steps: 100,
  test_freq: 20,
  val_tasks: 64,
  save_freq: 10,
  max_turns: 24,
  response_length_one_turn: 96,
  max_model_len: 1024,
  malformed_policy: 'feedback',
  require_done: true,
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
    description: 'Eight customers a step, eight tries each, a hundred steps.',
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
};

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

/** TRL's name → ours. */
const ALIASES: Record<string, keyof GrpoConfig> = {
  num_generations: 'n',
  num_iterations: 'ppo_epochs',
  epsilon: 'clip_ratio_low',
  epsilon_high: 'clip_ratio_high',
  delta: 'clip_ratio_c',
  beta: 'kl_loss_coef',
  learning_rate: 'lr',
  max_grad_norm: 'grad_clip',
  warmup_steps: 'lr_warmup_steps',
  max_steps: 'total_training_steps',
  entropy_coef: 'entropy_coeff',
  adam_beta1: 'beta1',
  adam_beta2: 'beta2',
  adam_epsilon: 'adam_eps',
  eval_steps: 'test_freq',
  save_steps: 'save_freq',
};
const VALUE_ALIASES: Record<string, Record<string, string>> = {
  kl_loss_type: { k3: 'low_var_kl', kl: 'k1', mse: 'k2' },
  loss_agg_mode: { dapo: 'token-mean', grpo: 'seq-mean-token-mean' },
};

export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * `base` with `overrides` laid over it. Values may be strings (from a command line or URL).
 * @throws ConfigError naming the field, the value and what was expected.
 */
function resolve<T extends object>(schema: z.ZodType<T>, base: T, overrides: Record<string, unknown>): T {
  const merged = { ...base } as Record<string, unknown>;
  for (const [given, raw] of Object.entries(overrides)) {
    if (raw === undefined) continue;
    const name = Object.hasOwn(ALIASES, given) ? ALIASES[given]! : given;
    if (!Object.hasOwn(base, name)) throw new ConfigError(`unknown setting "${given}"; known: ${Object.keys(base).join(', ')}`);
    merged[name] = parseValue(name, raw, (base as Record<string, unknown>)[name]);
  }
  const result = schema.safeParse(merged);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const field = String(issue.path[0]);
  throw new ConfigError(`setting "${field}" is ${JSON.stringify(merged[field])}: ${issue.message}`);
}

function parseValue(name: string, raw: unknown, example: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  if (typeof example === 'string') return VALUE_ALIASES[name]?.[raw] ?? raw;
  if (typeof example === 'boolean') {
    if (raw === 'true' || raw === 'True') return true;
    if (raw === 'false' || raw === 'False') return false;
    throw new ConfigError(`setting "${name}" is "${raw}": expected true or false`);
  }
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) throw new ConfigError(`setting "${name}" is "${raw}": expected a number`);
  return value;
}

/** @throws ConfigError */
export function grpoConfig(preset: string, overrides: Record<string, unknown> = {}): GrpoConfig {
  if (!Object.hasOwn(PRESETS, preset)) throw new ConfigError(`unknown preset "${preset}"; known: ${Object.keys(PRESETS).join(', ')}`);
  const base = PRESETS[preset]!.config;
  const given = { ...overrides };
  // A smaller or larger batch alone means one update a batch, as in the preset.
  if (given.train_batch_size !== undefined && given.ppo_mini_batch_size === undefined) given.ppo_mini_batch_size = given.train_batch_size;
  // TRL: epsilon_high defaults to epsilon.
  if (given.epsilon !== undefined && given.epsilon_high === undefined) given.epsilon_high = given.epsilon;
  const config = resolve(grpoSchema, base, given);
  if (config.train_batch_size % config.ppo_mini_batch_size !== 0) {
    throw new ConfigError(`setting "ppo_mini_batch_size" is ${config.ppo_mini_batch_size}: expected a divisor of train_batch_size (${config.train_batch_size})`);
  }
  return config;
}

/** @throws ConfigError */
export function sftConfig(overrides: Record<string, unknown> = {}): SftConfig {
  return resolve(sftSchema, SFT_DEFAULTS, overrides);
}

/** Loss settings of `mua grad`: the paper's, with overrides. @throws ConfigError */
export function lossConfig(overrides: Record<string, unknown> = {}): GrpoConfig {
  return resolve(grpoSchema, PAPER, overrides);
}
