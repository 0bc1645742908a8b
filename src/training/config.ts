/** @file Reads and checks settings. The names are verl's; TRL's names are accepted too. */
import { z } from 'zod';
import { limitsFor, PAPER, PRESETS, SFT_DEFAULTS } from './presets.ts';
import type { GrpoConfig, SftConfig } from '../records/run.ts';

const count = z.int().min(1);
const natural = z.int().min(0);
const positive = z.number().positive();
/** Below 1: at 1 the bias correction of AdamW's moments divides by zero. */
const decay = z.number().min(0).lt(1);

const schedule = {
  lr: positive,
  lr_scheduler_type: z.enum(['constant', 'linear', 'cosine']),
  lr_warmup_steps: natural,
  weight_decay: z.number().min(0),
  decay_all_parameters: z.boolean(),
  beta1: decay,
  beta2: decay,
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
  ppo_micro_batch_size_per_gpu: natural,
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
  train_split: z.enum(['train', 'heldout']),
  filter_noop_tasks: z.boolean(),
  check_outputs: z.boolean(),
  conversation_rules: z.enum(['domain', 'mua_rl']),
  mask_truncated: z.boolean(),
  filter_groups: z.boolean(),
  'filter_groups.max_num_gen_batches': natural,
  ...schedule,
  test_freq: natural,
  val_tasks: natural,
  'val_kwargs.do_sample': z.boolean(),
  save_freq: natural,
  inspect: z.boolean(),
  max_turns: count,
  response_length_one_turn: count,
  max_model_len: count,
  malformed_policy: z.enum(['end', 'feedback', 'as_text']),
  require_done: z.boolean(),
  temperature: z.number().min(0),
  top_p: z.number().gt(0).max(1),
  top_k: natural,
}) satisfies z.ZodType<GrpoConfig>;

const sftSchema = z.strictObject({ train_batch_size: count, ...schedule, max_model_len: count }) satisfies z.ZodType<SftConfig>;

/** TRL's name → ours. */
export const ALIASES: Record<string, keyof GrpoConfig> = {
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
/** verl's full name → our short one. */
const LONG_NAMES: Record<string, keyof GrpoConfig> = { 'filter_groups.enable': 'filter_groups' };
const VALUE_ALIASES: Record<string, Record<string, string>> = {
  kl_loss_type: { k3: 'low_var_kl', kl: 'k1', mse: 'k2' },
  loss_agg_mode: { dapo: 'token-mean', grpo: 'seq-mean-token-mean' },
};

/** The name that settings have here, of a name from verl or TRL. Other names stay as they are. */
export const ownName = (given: string): string => {
  const known = { ...ALIASES, ...LONG_NAMES };
  return Object.hasOwn(known, given) ? known[given]! : given;
};

export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * `base` with `overrides`. Values may be strings, as a command line or a URL gives them.
 * @throws ConfigError that names the setting, its value and the values it can have
 */
function resolve<T extends object>(schema: z.ZodType<T>, base: T, overrides: Record<string, unknown>): T {
  const merged = { ...base } as Record<string, unknown>;
  for (const [given, raw] of Object.entries(overrides)) {
    if (raw === undefined) continue;
    const name = ownName(given);
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
  // A changed batch size alone keeps one update a batch, as in the preset.
  if (given.train_batch_size !== undefined && given.ppo_mini_batch_size === undefined) given.ppo_mini_batch_size = given.train_batch_size;
  // In TRL, epsilon_high defaults to epsilon.
  if (given.epsilon !== undefined && given.epsilon_high === undefined) given.epsilon_high = given.epsilon;
  const config = resolve(grpoSchema, base, given);
  if (config.n < 2) throw new ConfigError(`setting "n" is ${config.n}: expected at least 2, as GRPO compares the rollouts of a group`);
  if (config.train_batch_size % config.ppo_mini_batch_size !== 0) {
    throw new ConfigError(
      `setting "ppo_mini_batch_size" is ${config.ppo_mini_batch_size}: expected a divisor of train_batch_size (${config.train_batch_size})`,
    );
  }
  return config;
}

/** Settings of an evaluation: those of `preset`, or the limits for the domain and level, with overrides. @throws ConfigError */
export function evaluationConfig({
  domain,
  level,
  preset,
  settings = {},
}: {
  domain: string;
  level: string;
  preset?: string;
  settings?: Record<string, string>;
}): GrpoConfig {
  return resolve(grpoSchema, { ...(preset === undefined ? limitsFor(domain, level) : grpoConfig(preset)), domain, level }, settings);
}

/** @throws ConfigError */
export function sftConfig(overrides: Record<string, unknown> = {}): SftConfig {
  return resolve(sftSchema, SFT_DEFAULTS, overrides);
}

/** Loss settings of `mua grad`: the paper's settings with overrides. @throws ConfigError */
export function lossConfig(overrides: Record<string, unknown> = {}): GrpoConfig {
  return resolve(grpoSchema, PAPER, overrides);
}
