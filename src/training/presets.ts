/** @file The presets: the default settings of a run. This file contains almost no code, so that the first page load stays small. */
import { levelConditions } from '../domains/registry.ts';
import { conditionSettings } from '../environments/conditions.ts';
import type { GrpoConfig } from '../records/run.ts';
import { PAPER } from './defaults.ts';
import { COLD, GLIMPSE, LORA, NANO, QUESTION, SMALL, SMOLLM2, TIMEOUTS } from './preset-settings.ts';
import { QWEN25_05B, QWEN3_06B, SMOLLM2_135M } from './pretrained.ts';

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
      'Does the same as the preset of SmolLM2, but with Qwen2.5-0.5B-Instruct. This model is four times as large and comes with a format for tools. No run with these settings was measured.',
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
