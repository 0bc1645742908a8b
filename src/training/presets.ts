/** @file The presets: the default settings of a run. This file contains almost no code, so that the first page load stays small. */
import { levelConditions } from '../domains/registry.ts';
import { conditionSettings, RELIABLE, shares } from '../environments/conditions.ts';
import { QWEN25_05B, QWEN3_06B, SMOLLM2_135M } from './pretrained.ts';
import type { GrpoConfig } from '../records/run.ts';
import { PAPER, SFT_DEFAULTS } from './defaults.ts';

/** A nano model needs a higher learning rate and shorter conversations, and gets its parse errors as feedback. */
const NANO: GrpoConfig = {
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
const SMALL: GrpoConfig = {
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
const GLIMPSE: GrpoConfig = {
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
const TIMEOUTS: GrpoConfig = {
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
const LORA: GrpoConfig = {
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
const SMOLLM2: GrpoConfig = {
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
const COLD: Partial<GrpoConfig> = {
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
const QUESTION: GrpoConfig = {
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

export interface Preset {
  label: string;
  description: string;
  /** The name of a bundled model, or the name on the Hugging Face Hub of a model to download. */
  model: string;
  config: GrpoConfig;
  /** What the supervised run that comes before the preset changes in `config`. Absent if the model needs none. */
  coldStart?: Partial<GrpoConfig>;
}

export const DEFAULT_PRESET = 'nano';
/** The preset that shows learning in the shortest time. The page begins with it. */
export const SOONEST_PRESET = 'glimpse';

export const PRESETS: Record<string, Preset> = {
  nano: {
    label: 'Nano retail',
    description:
      'Each of the 40 steps plays 8 tasks with 8 rollouts each. Most customers change their mind when they are asked. The bundled model asks before about half of its writes. After GRPO, in the recorded run, it asks before most of them.',
    model: 'nano-retail',
    config: NANO,
  },
  glimpse: {
    label: 'Glimpse (the shortest conversations)',
    description:
      'A tiny shop with two tools and short conversations. Almost all customers change their mind when they are asked. One of the two demonstrators asks before it writes, and GRPO finds that this pays. 10 steps took 51 to 57 seconds on two processor cores without a graphics card.',
    model: 'glimpse-retail',
    config: GLIMPSE,
  },
  timeouts: {
    label: 'Glimpse with timeouts',
    description:
      'The shop of Glimpse, but many tool calls time out. One demonstrator asks before it writes and claims success after a timeout. The other calls again and never asks. From the outcome alone the agent learns to do both.',
    model: 'glimpse-timeouts',
    config: TIMEOUTS,
  },
  small: {
    label: 'Small retail',
    description:
      'A larger shop with twelve tools: returns, exchanges and new items need a look-up of the product. The bundled model has a million parameters.',
    model: 'small-retail',
    config: SMALL,
  },
  tiny: {
    label: 'Tiny (a quick look)',
    description: 'Each of the 5 steps plays 2 tasks with 4 rollouts each. The run uses every part of training. The agent learns little.',
    model: 'nano-retail',
    config: {
      ...NANO,
      train_batch_size: 2,
      ppo_mini_batch_size: 2,
      n: 4,
      total_training_steps: 5,
      test_freq: 0,
      val_tasks: 8,
      save_freq: 1,
    },
  },
  faithful: {
    label: 'Nano retail, as MUA-RL’s code does it',
    description:
      'Every setting has the value of MUA-RL’s code, flaws included: for example, the run trains on the tasks of its evaluation. Only the length limits and the learning rate are adapted to the small model. The table below the settings lists what is not available here.',
    model: 'nano-retail',
    config: {
      ...PAPER,
      level: NANO.level,
      ...conditionSettings(levelConditions('retail', 'nano')),
      lr: NANO.lr,
      response_length_one_turn: NANO.response_length_one_turn,
      max_model_len: NANO.max_model_len,
    },
  },
  smollm2: {
    label: 'SmolLM2 with LoRA, glimpse',
    description:
      'Trains LoRA adapters of rank 16 on SmolLM2-135M-Instruct, which you download under Models. The shop is the smallest one. Without a cold start on conversations with tools, the model cannot serve. After one, ten steps make it ask before its writes.',
    model: SMOLLM2_135M.name,
    config: SMOLLM2,
    coldStart: COLD,
  },
  'qwen2.5': {
    label: 'Qwen2.5-0.5B with LoRA, glimpse',
    description:
      'As the preset of SmolLM2, but with Qwen2.5-0.5B-Instruct, which is four times as large and comes with a format for tools. No run with these settings was measured.',
    model: QWEN25_05B.name,
    config: SMOLLM2,
    coldStart: COLD,
  },
  lora: {
    label: 'Qwen3-0.6B with LoRA, generated retail',
    description:
      'Trains LoRA adapters of rank 16 on Qwen3-0.6B, which you download under Models. The shop is the largest of the generated ones. As in MUA-RL’s script, a conversation has at most 30 tool results and customer replies, and a message of the agent has at most 1,024 tokens. A conversation has at most 16,384 tokens. The preset is meant for a hardware GPU. No run with these settings was measured.',
    model: QWEN3_06B.name,
    config: LORA,
  },
  question: {
    label: 'Ends with a question (one turn, LoRA)',
    description:
      'A pretrained model learns to end its answer with a question. A conversation has one turn and no tools. The reward is a rule, or the verdicts of a judge who compares the answers of a group and one of the original model. No run with these settings was measured.',
    model: SMOLLM2_135M.name,
    config: QUESTION,
  },
};

/** Whether the preset's model is part of the page, so that no download from the Hub is needed. */
export const isBundled = ({ model }: Preset): boolean => !model.includes('/');

/** The name of the first preset with a bundled model for a domain and level. */
export const presetFor = (domain: string, level: string): string | undefined =>
  Object.keys(PRESETS).find((name) => {
    const preset = PRESETS[name]!;
    return isBundled(preset) && preset.config.domain === domain && preset.config.level === level;
  });

/** The first sampler stream of a run's evaluations. Training steps use the streams below it. */
export const EVALUATION_STREAM = 0xe0000000;

/** The first sampler stream of the answers that a judge compares with later answers. No evaluation has so many streams. */
export const ORIGINAL_STREAM = 0xf0000000;

/** The limits of an evaluation: those of the first preset with this domain and level. If no preset has them, the limits for a benchmark. */
export function limitsFor(domain: string, level: string): GrpoConfig {
  const preset = presetFor(domain, level);
  return preset === undefined
    ? {
        ...NANO,
        domain,
        level,
        ...conditionSettings(levelConditions(domain, level)),
        max_model_len: 8192,
        response_length_one_turn: 1024,
        max_turns: 30,
      }
    : PRESETS[preset]!.config;
}
