/** @file The folder with which TRL trains: an environment class with one method for each tool, and the arguments of GRPOTrainer. */
import type { Json } from '../records/json.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { ToolSchema } from '../records/task.ts';
import { SETTINGS } from '../training/settings/index.ts';
import { type AdapterInput, json, jsonl, python, readme } from './adapter-input.ts';

/** The tool that talks to the customer. `mua env-serve` has it in its lists of tools. */
export const RESPOND: ToolSchema = {
  type: 'function',
  function: {
    name: 'respond',
    description: 'Say something to the customer. Returns the customer’s answer.',
    parameters: { type: 'object', properties: { message: { type: 'string', description: 'The words.' } }, required: ['message'] },
  },
};

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
  enable_thinking: ({ enable_thinking }) => ({ chat_template_kwargs: { enable_thinking } }),
};
const LORA = ['lora_rank', 'lora_alpha', 'target_modules'];

export function trl(input: AdapterInput): Record<string, string> {
  const { config, model, opening, rows, title, tools, url } = input;
  const args = Object.assign({}, ...Object.values(TRL).map((name) => name(config))) as Record<string, Json>;
  const lora =
    config.lora_rank > 0 ? { r: config.lora_rank, lora_alpha: config.lora_alpha, target_modules: targets(config.target_modules) } : null;
  // TRL appends the text that `reset` returns to the last user message.
  const prompt = [...opening, { role: 'user', content: '' }];
  return {
    'mua_environment.py': `"""${title} as an environment of TRL's GRPOTrainer: a method for each tool, and respond() to talk to the customer."""

import os

from openenv import GenericEnvClient

URL = os.environ.get("MUA_ENV_URL", ${python(url)})


class MuaEnvironment:
    def __init__(self):
        self._client = GenericEnvClient(base_url=URL).sync()
        self._client.connect()
        self._reward = 0.0
        self._done = False

    def reset(self, **row):
        result = self._client.reset(task_id=row["task_id"], seed=row["seed"])
        self._reward, self._done = 0.0, False
        return result.observation["content"]

    def get_reward(self) -> float:
        return self._reward

    def _call(self, tool, **arguments):
        if self._done:
            return "The conversation is over."
        given = {name: value for name, value in arguments.items() if value is not None}
        result = self._client.step({"name": tool, "arguments": given})
        if result.done:
            self._done, self._reward = True, float(result.reward or 0.0)
        return result.observation["content"]
${[...tools, RESPOND].map(method).join('')}`,
    'train.py': `"""Trains with TRL. Usage: accelerate launch train.py"""

import json
from pathlib import Path

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

from mua_environment import MuaEnvironment

here = Path(__file__).parent
settings = json.loads((here / "config.json").read_text())
lora = settings["lora"]
if lora:
    from peft import LoraConfig

    lora = LoraConfig(task_type="CAUSAL_LM", **lora)
GRPOTrainer(
    model=settings["model"],
    args=GRPOConfig(output_dir=str(here / "out"), **settings["args"]),
    train_dataset=load_dataset("json", data_files=str(here / "rows.jsonl"), split="train"),
    environment_factory=MuaEnvironment,
    peft_config=lora,
).train()
`,
    'config.json': json({ model, args, lora }),
    'rows.jsonl': jsonl(rows.map((row) => ({ prompt, ...row }))),
    'README.md': readme(
      'TRL',
      input,
      ['pip install "trl[vllm,peft]" "openenv>=0.3"', 'accelerate launch train.py'],
      [
        'TRL ends a rollout at the first message without a tool call, so the agent speaks with the tool `respond`. This is another prompt than the one of the playground, in which words are plain text.',
        'Each rollout opens a session: `--max-sessions` must be at least `generation_batch_size`.',
        'If the customer fails, `step` raises an error and TRL gives the model its text. The rollout then keeps reward 0.',
      ],
      new Set([...Object.keys(TRL), ...LORA]),
    ),
  };
}

const targets = (text: string): Json => (text === 'all-linear' ? 'all-linear' : text.split(',').map((name) => name.trim()));

const HINTS: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', object: 'dict', array: 'list' };

/** The Python method of a tool. TRL makes the tool's schema from the type hints and the docstring. */
function method({ function: { name, description, parameters } }: ToolSchema): string {
  const { properties, required } = parameters;
  const names = [...required, ...Object.keys(properties).filter((property) => !required.includes(property))].filter(
    (property) => property in properties,
  );
  const of = (property: string) =>
    properties[property] as { type?: string; description?: string; enum?: Json[]; items?: { type?: string } };
  const hint = (property: string) => {
    const { type = 'string', items } = of(property);
    const own = HINTS[type] ?? 'str';
    const full = own === 'list' ? `list[${HINTS[items?.type ?? 'string'] ?? 'str'}]` : own;
    return required.includes(property) ? `${property}: ${full}` : `${property}: ${full} | None = None`;
  };
  const line = (text: string) => text.replace(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim();
  const documented = (property: string) => {
    const { description: words = property, enum: choices } = of(property);
    return `            ${property}: ${line(words)}${choices ? ` One of: ${choices.join(', ')}.` : ''}`;
  };
  const args = names.length === 0 ? [] : ['', '        Args:', ...names.map(documented)];
  return [
    '',
    `    def ${name}(${['self', ...names.map(hint)].join(', ')}) -> str:`,
    `        """${line(description)}`,
    ...args,
    '        """',
    `        return self._call(${[python(name), ...names.map((property) => `${property}=${property}`)].join(', ')})`,
    '',
  ].join('\n');
}
