/** @file The folder with which TRL trains: an adapter in the form that fits the model, and the arguments of GRPOTrainer. */
import type { Json } from '../records/json.ts';
import type { GrpoConfig } from '../records/run.ts';
import { SETTINGS } from '../training/settings/index.ts';
import { type AdapterInput, json, jsonl, promptOf, readme } from './adapter-input.ts';
import { VERSIONS } from './engines.ts';
import { LONGEST_WAIT, serverEpisode } from './server-episode.ts';
import { trlEnvironment } from './trl-environment.ts';
import { trlRollout } from './trl-rollout.ts';

type Conversion = (config: GrpoConfig) => Record<string, Json>;

/** Entries for settings that have the same value in TRL. */
const same = (...names: (keyof GrpoConfig)[]): Record<string, Conversion> =>
  Object.fromEntries(names.map((name) => [name, (config) => ({ [SETTINGS[name].trl ?? name]: config[name] })]));

/** Setting → how to write it with TRL's names and values. */
const TRL: Partial<Record<keyof GrpoConfig, Conversion>> = {
  ...same('lr', 'lr_scheduler_type', 'lr_warmup_steps', 'weight_decay', 'beta1', 'beta2', 'adam_eps', 'grad_clip'),
  ...same('total_training_steps', 'seed', 'n'),
  train_batch_size: ({ train_batch_size, n }) => ({ generation_batch_size: train_batch_size * n, per_device_train_batch_size: n }),
  ppo_mini_batch_size: ({ ppo_mini_batch_size }) => ({ gradient_accumulation_steps: ppo_mini_batch_size }),
  ...same('ppo_epochs', 'clip_ratio_low', 'clip_ratio_high'),
  kl_loss_coef: ({ use_kl_loss, kl_loss_coef }) => ({ beta: use_kl_loss ? kl_loss_coef : 0 }),
  use_kl_loss: () => ({}),
  ...same('entropy_coeff'),
  norm_adv_by_std_in_grpo: ({ norm_adv_by_std_in_grpo }) => ({ scale_rewards: norm_adv_by_std_in_grpo ? 'group' : 'none' }),
  loss_agg_mode: ({ loss_agg_mode }) => ({
    loss_type: {
      'token-mean': 'dapo',
      'seq-mean-token-mean': 'grpo',
      'seq-mean-token-sum': 'dr_grpo',
      'seq-mean-token-sum-norm': 'dr_grpo',
    }[loss_agg_mode],
  }),
  loss_mode: ({ loss_mode }) => ({ importance_sampling_level: loss_mode === 'gspo' ? 'sequence' : 'token' }),
  mask_truncated: ({ mask_truncated }) => ({ mask_truncated_completions: mask_truncated }),
  max_model_len: ({ max_model_len }) => ({ max_completion_length: max_model_len, vllm_max_model_length: max_model_len }),
  ...same('temperature', 'top_p', 'top_k'),
  // 0 means only at the end, which `train.py` always does.
  save_freq: ({ save_freq }) => ({ save_strategy: save_freq > 0 ? 'steps' : 'no', save_steps: Math.max(1, save_freq) }),
  enable_thinking: ({ enable_thinking }) => ({ chat_template_kwargs: { enable_thinking } }),
};
const LORA = ['lora_rank', 'lora_alpha', 'target_modules'];

export function trl(input: AdapterInput): Record<string, string> {
  const { config, form, model, rows, title, tools, url } = input;
  const plays = form === 'text';
  const args = Object.assign({}, ...Object.values(TRL).map((name) => name(config))) as Record<string, Json>;
  // `rollout_func` limits each turn itself.
  if (!plays) args.generation_kwargs = { max_new_tokens: config.response_length_one_turn };
  const lora =
    config.lora_rank > 0 ? { r: config.lora_rank, lora_alpha: config.lora_alpha, target_modules: targets(config.target_modules) } : null;
  const limits = { turn: config.response_length_one_turn, context: config.max_model_len };
  // A `rollout_func` gets only the prompt of a row. TRL appends the text that the environment's `reset` returns to the last message.
  const prompt = (row: object) => (plays ? [{ role: 'user', content: JSON.stringify(row) }] : promptOf(input));
  const adapter: Record<string, string> = plays
    ? { 'mua_rollout.py': trlRollout(title) }
    : { 'mua_environment.py': trlEnvironment(title, tools) };
  return {
    'mua_server.py': serverEpisode(url),
    ...adapter,
    'train.py': trainer(plays),
    'config.json': json({ model, args, lora, limits }),
    'rows.jsonl': jsonl(rows.map((row) => ({ prompt: prompt(row), ...row }))),
    'README.md': readme(
      'TRL',
      input,
      [
        `pip install "trl[peft]==${VERSIONS.trl}" "transformers==${VERSIONS.transformers}" "openenv==${VERSIONS.openenv}"`,
        'accelerate launch train.py',
      ],
      [...(plays ? TEXT_NOTES : CALL_NOTES), ...NOTES],
      new Set([...Object.keys(TRL), ...LORA, 'response_length_one_turn']),
    ),
  };
}

const TEXT_NOTES = [
  '`mua_rollout.py` plays the conversations with the playground’s own prompt: words are plain text, and tool calls are markup. This form is for models of the playground. For a model that was trained to call tools, export with its name on the Hub.',
  'A turn or a conversation that reaches a token limit of `config.json` ends with reward 0, as in the playground.',
];
const CALL_NOTES = [
  '`mua_environment.py` has a method for each tool. TRL ends a rollout at the first message without a tool call, so the agent speaks with the tool `respond`. This is another prompt than the one of the playground, in which words are plain text. For a model of the playground, export with its folder.',
  'TRL checks the arguments of a call before the server sees them, and ends a rollout after a call that is not JSON. The server would answer with the error.',
  'TRL cuts a turn at `generation_kwargs.max_new_tokens`. A rollout that is cut has reward 0.',
];
const NOTES = [
  'Each rollout opens a session: `--max-sessions` must be at least `generation_batch_size`.',
  'If the server or the customer fails, the rollout has reward None. TRL leaves it out of the mean and gives it the advantage 0. If all rollouts of a batch fail, training stops with an error that names the server.',
  `A reset waits up to ${LONGEST_WAIT} for the server. \`train.py\` continues from the newest checkpoint in \`out/\`.`,
];

const trainer = (plays: boolean) => `"""Trains with TRL. Continues from the newest checkpoint. Usage: accelerate launch train.py"""

import json
from pathlib import Path

import torch
from datasets import load_dataset
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig, GRPOTrainer

${plays ? 'from mua_rollout import reward, rollout' : 'from mua_environment import MuaEnvironment'}

here = Path(__file__).parent
out = here / "out"
settings = json.loads((here / "config.json").read_text())
lora = settings["lora"]
gpu = torch.cuda.is_available()
if lora:
    from peft import LoraConfig

    lora = LoraConfig(task_type="CAUSAL_LM", **lora)
trainer = GRPOTrainer(
    model=settings["model"],
    args=GRPOConfig(output_dir=str(out), use_cpu=not gpu, bf16=gpu, **settings["args"]),
    train_dataset=load_dataset("json", data_files=str(here / "rows.jsonl"), split="train"),
    ${plays ? 'reward_funcs=reward,\n    rollout_func=rollout,' : 'environment_factory=MuaEnvironment,'}
    peft_config=lora,
)
trainer.train(resume_from_checkpoint=get_last_checkpoint(str(out)) if out.is_dir() else None)
trainer.save_model(str(out))
`;

const targets = (text: string): Json => (text === 'all-linear' ? 'all-linear' : text.split(',').map((name) => name.trim()));
