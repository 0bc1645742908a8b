/** @file The folder with which verl trains: an agent loop, and the settings as Hydra overrides. */
import type { GrpoConfig } from '../records/run.ts';
import { SETTINGS } from '../training/settings/index.ts';
import { type AdapterInput, json, jsonl, python, readme } from './adapter-input.ts';

/** The settings that verl has too, with their paths in verl's configuration. */
const VERL = Object.entries(SETTINGS).flatMap(([name, { verl: path }]) => (path === undefined ? [] : [{ name, path }]));

export function verl(input: AdapterInput): Record<string, string> {
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

/** The value of a Hydra override, quoted for a shell. */
const shell = (value: unknown) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : `'${String(value)}'`);
