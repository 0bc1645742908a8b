/** @file The folder with which verl trains: an agent loop, and the settings as Hydra overrides. */
import type { GrpoConfig } from '../records/run.ts';
import { SETTINGS } from '../training/settings/index.ts';
import { type AdapterInput, dataset, json, readme } from './adapter-input.ts';
import { VERSIONS } from './engines.ts';
import { LONGEST_WAIT, serverLines } from './server-episode.ts';

/** The settings that verl has too, with their paths in verl's configuration. */
const VERL = Object.entries(SETTINGS).flatMap(([name, { verl: path }]) => (path === undefined ? [] : [{ name, path }]));
/** verl's default for the tokens of a micro-batch. */
const LEAST_TOKENS = 16_384;

export function verl(input: AdapterInput): Record<string, string> {
  const { config, model, promptTokens, rows, title, tools, url, validation } = input;
  const { max_model_len: context, response_length_one_turn: turn } = config;
  const validates = validation.length > 0;
  const overrides = [
    'data.train_files=rows.parquet',
    `data.val_files=${validates ? 'validation' : 'rows'}.parquet`,
    ...(validates ? [] : ['trainer.val_before_train=False', 'trainer.test_freq=-1']),
    'data.return_raw_chat=True',
    `actor_rollout_ref.model.path=${shell(model)}`,
    'actor_rollout_ref.rollout.name=vllm',
    'actor_rollout_ref.rollout.mode=async',
    'actor_rollout_ref.rollout.agent.agent_loop_config_path=agent_loop.yaml',
    `data.max_prompt_length=${promptTokens}`,
    `data.max_response_length=${context}`,
    'actor_rollout_ref.actor.use_dynamic_bsz=True',
    `actor_rollout_ref.actor.ppo_max_token_len_per_gpu=${Math.max(LEAST_TOKENS, promptTokens + context)}`,
    ...VERL.map(({ name, path }) => `${path}=${shell(config[name as keyof GrpoConfig])}`),
  ];
  const columns = { agent_name: 'mua_agent', reward_model: { style: 'rule', ground_truth: '' } };
  return {
    'mua_agent_loop.py': agentLoop(title, url, turn, context),
    'agent_loop.yaml': '- name: mua_agent\n  _target_: mua_agent_loop.MuaAgentLoop\n',
    'rows.jsonl': dataset(input, rows, columns),
    ...(validates && { 'validation.jsonl': dataset(input, validation, columns) }),
    'tools.json': json(tools),
    'train.sh': `#!/bin/sh
# Trains with verl. The parquet files hold the rows of the files *.jsonl.
set -e
cd "$(dirname "$0")"
for name in rows${validates ? ' validation' : ''}; do
  python -c "import pandas, sys; pandas.read_json(sys.argv[1] + '.jsonl', lines=True).to_parquet(sys.argv[1] + '.parquet')" "$name"
done
PYTHONPATH=. python -m verl.trainer.main_ppo \\
${overrides.map((override) => `  ${override}`).join(' \\\n')} "$@"
`,
    'README.md': readme(
      'verl',
      input,
      [
        `pip install "verl[vllm]==${VERSIONS.verl}" "openenv==${VERSIONS.openenv}" pandas pyarrow`,
        'sh train.sh trainer.n_gpus_per_node=8 trainer.nnodes=4',
      ],
      [
        'The agent loop keeps the sampled token ids. What customer and tools say has mask 0.',
        `A turn has at most ${turn} tokens, and a conversation at most ${context}. A turn or a conversation that is cut has reward 0, as in the playground.`,
        'Each agent loop opens a session: `--max-sessions` must be at least the number of rollouts at once.',
        `verl has no rollout without a reward. So if the server or the customer fails, the loop plays the conversation again. It waits up to ${LONGEST_WAIT} for the server; then an error that names the server ends the training, and verl continues from its last checkpoint.`,
        'The customer’s words take part in no prompt of the files: the loop makes the prompt from the first observation.',
      ],
      new Set([...VERL.map(({ name }) => name), 'response_length_one_turn']),
    ),
  };
}

const agentLoop = (
  title: string,
  url: string,
  turn: number,
  context: number,
) => `"""${title} as an agent loop of verl: the server plays the customer and the tools, and says the reward."""

import asyncio
import os
import re
from uuid import uuid4

from openenv import GenericEnvClient
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register

${serverLines(url)}
TURN_TOKENS, MAX_TOKENS = ${turn}, ${context}


@register("mua_agent")
class MuaAgentLoop(AgentLoopBase):
    async def run(self, sampling_params, **row):
        task = row["extra_info"]
        for wait in (*WAITS, None):
            try:
                return await self.play(sampling_params, task["task_id"], task["seed"])
            except (OSError, RuntimeError) as error:
                # The server or the customer has failed. verl has no rollout without a reward, so it is played again.
                if wait is None or "VALIDATION_ERROR" in str(error):
                    raise ConnectionError(f"{SERVER} does not finish the episode {task['task_id']}: {error}") from error
                print(f"{SERVER} does not finish an episode ({error}): the next try is in {wait} s", flush=True)
                await asyncio.sleep(wait)

    async def play(self, sampling_params, task_id, seed):
        limit = self.rollout_config.response_length
        mask, logprobs, turns, reward = [], None, 0, 0.0
        async with GenericEnvClient(base_url=URL) as env:
            result = await env.reset(task_id=task_id, seed=seed)
            messages, tools = result.observation["messages"], result.observation["tools"]
            ids = await self.ct_build_initial_tokens(messages, tools=tools)
            if len(ids) >= self.rollout_config.prompt_length:
                raise ValueError(
                    f"data.max_prompt_length is {self.rollout_config.prompt_length}: expected more than the tokens of the prompt of {task_id}"
                )
            if tools and ids == await self.ct_build_initial_tokens(messages):
                raise ValueError("the chat template of the model leaves out the tools: expected one with tools, such as that of Qwen/Qwen3-0.6B")
            request = uuid4().hex
            # A limit that cuts a turn or the conversation gives reward 0, as in the playground.
            while len(mask) < limit and len(ids) + 1 < MAX_TOKENS:
                room = min(TURN_TOKENS, MAX_TOKENS - len(ids), limit - len(mask))
                out = await self.server_manager.generate(
                    request_id=request, prompt_ids=ids, sampling_params={**sampling_params, "max_tokens": room}
                )
                sampled, given = out.token_ids[:room], out.log_probs and out.log_probs[:room]
                merged, mask, logprobs = await self.ct_merge_assistant_token(
                    ids, sampled, mask, logprobs or ([] if given else None), assistant_logprobs=given
                )
                ids, turns = merged.token_ids, turns + 1
                if not sampled or sampled[-1] != self.tokenizer.eos_token_id:
                    break
                text = self.tokenizer.decode(sampled, skip_special_tokens=True)
                result = await env.step({"content": text})
                if result.done:
                    if result.reward is None:
                        raise RuntimeError("the episode ended without a reward")
                    reward = float(result.reward)
                    break
                seen = result.observation
                before = [*messages, {"role": "assistant", "content": text}]
                messages = [*before, {"role": "tool" if seen["role"] == "tool" else "user", "content": seen["content"]}]
                merged, mask, logprobs = await self.ct_merge_context_msg(before, messages, ids, mask, logprobs, tools=tools)
                ids = merged.token_ids
        start = len(ids) - len(mask)
        return AgentLoopOutput(
            prompt_ids=ids[:start],
            response_ids=ids[start:][:limit],
            response_mask=mask[:limit],
            response_logprobs=logprobs[:limit] if logprobs else None,
            reward_score=reward,
            num_turns=2 * turns,
            metrics={},
        )
`;

/** The value of a Hydra override, quoted for a shell. */
const shell = (value: unknown) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : `'${String(value)}'`);
