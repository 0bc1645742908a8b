/**
 * @file Folders with which TRL, verifiers and verl train on `mua env-serve`: an adapter in Python, the settings under the
 * engine's own names, one row a task, and a README. Sources that the adapters follow: huggingface/trl f2cd577
 * (`GRPOTrainer.environment_factory`), PrimeIntellect-ai/verifiers a60a606 (`v1/tasksets/openenv`), volcengine/verl b178a3c
 * (`experimental/agent_loop`).
 */
import type { EngineName } from './engines.ts';
import type { Json } from '../records/json.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { ToolSchema } from '../records/task.ts';
import type { ChatMessage } from '../records/conversation.ts';
import { SETTINGS } from '../training/settings/index.ts';

/** The tool of the lists of `mua env-serve` that talks to the customer. */
export const RESPOND: ToolSchema = {
  type: 'function',
  function: {
    name: 'respond',
    description: 'Say something to the customer. Returns the customer’s answer.',
    parameters: { type: 'object', properties: { message: { type: 'string', description: 'The words.' } }, required: ['message'] },
  },
};

export interface AdapterPlace {
  domain: { name: string; level: string; policy: string; tools: readonly ToolSchema[] };
  /** What the agent says before the customer's first message, or null. */
  greeting: string | null;
  /** The training tasks, by the names that a reset takes (`resetName`). */
  tasks: readonly string[];
  config: GrpoConfig;
  /** The model to train, by its name on the Hub or its path. */
  model: string;
  /** The command that serves the environment. */
  serve: string;
  url: string;
}

type AdapterInput = Pick<AdapterPlace, 'config' | 'model' | 'serve' | 'url'> & {
  title: string;
  tools: readonly ToolSchema[];
  /** Messages before the customer's first. */
  opening: readonly ChatMessage[];
  rows: readonly { task_id: string; seed: number }[];
};

/** Text files by name. */
export function adapterFolder(engine: EngineName, { domain, greeting, tasks, ...settings }: AdapterPlace): Record<string, string> {
  const { name, level, policy, tools } = domain;
  return { trl, verifiers, verl }[engine]({
    ...settings,
    title: `${name} ${level}`,
    tools,
    opening: [{ role: 'system', content: policy }, ...(greeting === null ? [] : [{ role: 'assistant' as const, content: greeting }])],
    rows: tasks.map((task_id, seed) => ({ task_id, seed })),
  });
}

const jsonl = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
/** A string literal of Python: JSON's is one, without lone surrogates. */
const python = (text: string) => JSON.stringify(text);

/** Settings that the server applies, or that concern this page only. */
const SERVED =
  /^(val_)?(customers|tools)\.|^(domain|level|conversation_rules|max_turns|malformed_policy|require_done|train_split|filter_noop_tasks|check_outputs|inspect|stop_on_alarm|user_faults|test_freq|val_tasks|val_kwargs|save_freq|precision|kv_cache_|init_weights|algorithm|rft_epochs|sft_)/;

/** The settings that an engine has no name for, as they are, by name: stored runs have them in another order than presets. */
const leftOver = (config: GrpoConfig, used: ReadonlySet<string>): [string, unknown][] =>
  Object.entries(config)
    .filter(([name]) => !used.has(name) && !SERVED.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const readme = (engine: string, input: AdapterInput, commands: readonly string[], notes: readonly string[], used: ReadonlySet<string>) =>
  [
    `# ${input.title} for ${engine}`,
    '',
    'The environment, the customer and the reward are on the server. The first command starts it:',
    '',
    '```sh',
    input.serve,
    ...commands,
    '```',
    '',
    'MUA_ENV_URL names another server; with a token, write it into the address: http://mua:TOKEN@HOST:PORT.',
    '',
    ...notes.map((note) => `- ${note}`),
    '',
    `Settings of the run without a counterpart in ${engine}, with their values:`,
    '',
    ...leftOver(input.config, used).map(([name, value]) => `- \`${name}\`: ${JSON.stringify(value)}`),
    '',
  ].join('\n');

type Conversion = (config: GrpoConfig) => Record<string, Json>;

/** Settings whose value is the same in TRL. */
const same = (...names: (keyof GrpoConfig)[]): Record<string, Conversion> =>
  Object.fromEntries(names.map((name) => [name, (config) => ({ [SETTINGS[name].trl ?? name]: config[name] })]));

/** TRL's names and values, by setting. */
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

function trl(input: AdapterInput): Record<string, string> {
  const { config, model, opening, rows, title, tools, url } = input;
  const args = Object.assign({}, ...Object.values(TRL).map((name) => name(config))) as Record<string, Json>;
  const lora =
    config.lora_rank > 0 ? { r: config.lora_rank, lora_alpha: config.lora_alpha, target_modules: targets(config.target_modules) } : null;
  // TRL appends what reset returns to the last user message.
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

/** A tool as a method. TRL makes its schema from the type hints and the docstring. */
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

function verifiers(input: AdapterInput): Record<string, string> {
  const { rows, title, url } = input;
  return {
    'pyproject.toml': `[project]
name = "mua-environment"
version = "0.1.0"
description = ${python(`${title} of the MUA-RL Playground, over OpenEnv.`)}
requires-python = ">=3.11"
dependencies = ["verifiers[openenv]"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["mua_environment"]
`,
    'mua_environment/__init__.py':
      'from .taskset import MuaConfig, MuaTaskset, OpenEnvEnv\n\n__all__ = ["MuaConfig", "MuaTaskset", "OpenEnvEnv"]\n',
    'mua_environment/taskset.py': `"""${title} as a taskset of verifiers: its own OpenEnv taskset with the address of the server and the tasks."""

import json
import os
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.tasksets import OpenEnvConfig, OpenEnvEnv, OpenEnvTask, OpenEnvTaskset

__all__ = ["MuaConfig", "MuaTaskset", "OpenEnvEnv"]

ROWS = Path(__file__).parent / "rows.jsonl"


class MuaConfig(OpenEnvConfig):
    base_url: str | None = os.environ.get("MUA_ENV_URL", ${python(url)})
    resets: list[dict[str, Any]] = Field(
        default_factory=lambda: [json.loads(line) for line in ROWS.read_text().splitlines() if line]
    )


class MuaTaskset(OpenEnvTaskset, vf.Taskset[OpenEnvTask, MuaConfig]):
    pass
`,
    'mua_environment/rows.jsonl': jsonl(rows),
    'README.md': readme(
      'verifiers and prime-rl',
      input,
      ['uv pip install -e .', 'python -c "from mua_environment import MuaConfig; print(len(MuaConfig().resets), \'tasks\')"'],
      [
        'Train with prime-rl on the taskset `mua_environment`. The settings of the optimizer and of GRPO belong into its TOML; they are listed below.',
        'verifiers shows the model each observation as JSON, with the action’s schema. A reply that is no JSON is said to the customer or, with `<tool_call>` markup, is a tool call.',
        'The first observation holds the policy (`messages`) and the tools.',
      ],
      new Set(),
    ),
  };
}

/** Each setting that verl has, with its path there. */
const VERL = Object.entries(SETTINGS).flatMap(([name, { verl: path }]) => (path === undefined ? [] : [{ name, path }]));

function verl(input: AdapterInput): Record<string, string> {
  const { config, model, opening, rows, title, tools, url } = input;
  const overrides = [
    `data.train_files=rows.parquet`,
    `data.val_files=rows.parquet`,
    'data.return_raw_chat=True',
    `actor_rollout_ref.model.path=${model}`,
    'actor_rollout_ref.rollout.name=vllm',
    'actor_rollout_ref.rollout.mode=async',
    'actor_rollout_ref.rollout.agent.agent_loop_config_path=agent_loop.yaml',
    `data.max_response_length=${config.max_model_len}`,
    ...VERL.map(({ name, path }) => `${path}=${shell(config[name as keyof GrpoConfig])}`),
  ];
  return {
    'mua_agent_loop.py': `"""${title} as an agent loop of verl: the server plays the customer and the tools, and says the reward."""

import os
from uuid import uuid4

from openenv import GenericEnvClient
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register

URL = os.environ.get("MUA_ENV_URL", ${python(url)})


@register("mua_agent")
class MuaAgentLoop(AgentLoopBase):
    async def run(self, sampling_params, **row):
        task = row["extra_info"]
        limit = self.config.actor_rollout_ref.rollout.response_length
        response, mask, logprobs, turns, metrics = [], [], [], 0, {}
        async with GenericEnvClient(base_url=URL) as env:
            result = await env.reset(task_id=task["task_id"], seed=task["seed"])
            first = result.observation
            prompt = await self.apply_chat_template(first["messages"], tools=first["tools"])
            request = uuid4().hex
            while not result.done and len(response) < limit:
                output = await self.server_manager.generate(
                    request_id=request, prompt_ids=prompt + response, sampling_params=sampling_params
                )
                response += output.token_ids
                mask += [1] * len(output.token_ids)
                logprobs += output.log_probs or []
                turns += 1
                text = self.tokenizer.decode(output.token_ids, skip_special_tokens=True)
                result = await env.step({"content": text})
                if result.done:
                    break
                seen = result.observation
                message = {"role": "tool" if seen["role"] == "tool" else "user", "content": seen["content"]}
                given = await self.apply_chat_template([message], remove_system_prompt=True)
                response += given
                mask += [0] * len(given)
                if logprobs:
                    logprobs += [0.0] * len(given)
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=response[:limit],
            response_mask=mask[:limit],
            response_logprobs=logprobs[:limit] or None,
            reward_score=float(result.reward or 0.0),
            num_turns=2 * turns,
            metrics=metrics,
        )
`,
    'agent_loop.yaml': '- name: mua_agent\n  _target_: mua_agent_loop.MuaAgentLoop\n',
    'rows.jsonl': jsonl(
      rows.map((row) => ({
        data_source: 'mua',
        agent_name: 'mua_agent',
        prompt: [...opening, { role: 'user', content: '' }],
        extra_info: row,
        reward_model: { style: 'rule', ground_truth: '' },
      })),
    ),
    'tools.json': json(tools),
    'train.sh': `#!/bin/sh
# Trains with verl. The parquet file holds the rows of rows.jsonl.
set -e
cd "$(dirname "$0")"
python -c "import pandas; pandas.read_json('rows.jsonl', lines=True).to_parquet('rows.parquet')"
PYTHONPATH=. python -m verl.trainer.main_ppo \\
${overrides.map((override) => `  ${override}`).join(' \\\n')} "$@"
`,
    'README.md': readme(
      'verl',
      input,
      ['pip install "verl[vllm]" "openenv>=0.3" pandas pyarrow', 'sh train.sh trainer.n_gpus_per_node=8 trainer.nnodes=4'],
      [
        'The agent loop keeps the sampled token ids. What customer and tools say has mask 0.',
        'Each agent loop opens a session: `--max-sessions` must be at least the number of rollouts at once.',
        'If the customer fails, `step` raises an error, which ends verl’s batch.',
      ],
      new Set(VERL.map(({ name }) => name)),
    ),
  };
}

/** A value of a Hydra override, quoted for a shell. */
const shell = (value: unknown) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : `'${String(value)}'`);
