"""The exported agent loop on verl's own base class, with recorded tokens in place of a model. No Ray, no GPU."""

import asyncio
import os
import subprocess
import sys

import pandas
from omegaconf import OmegaConf
from transformers import AutoTokenizer
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

from common import WORK, Server, conversations, row, turns

server = Server()
os.environ['MUA_ENV_URL'] = server.url
sys.path.insert(0, str(WORK / 'verl'))
import mua_agent_loop

tokenizer = AutoTokenizer.from_pretrained(str(WORK / 'hf'))
END = tokenizer.eos_token_id
mua_agent_loop.WAITS = (0.2,)


class Recorded:
    """Says a recorded conversation. The playground gives the end of a turn after a tool call; an engine samples it."""

    def __init__(self, conversation):
        self.turns = [node['tokens'] + [END] * (node['tokens'][-1] != END) for node in turns(conversation)]
        self.kill = None

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        if self.kill:
            self.kill()
        tokens = self.turns.pop(0)[: sampling_params['max_tokens']]
        return TokenOutput(token_ids=tokens, log_probs=[-1.0] * len(tokens))


def loop_of(says):
    data = {'apply_chat_template_kwargs': {'enable_thinking': False}, 'mm_processor_kwargs': {}}
    config = OmegaConf.create({'actor_rollout_ref': {'rollout': {'prompt_length': 1024, 'response_length': 1024}}, 'data': data})
    return mua_agent_loop.MuaAgentLoop(
        DictConfigWrap(config), says, tokenizer, None, RLHFDataset, DictConfigWrap(config.data), hf_model_type='qwen3'
    )


async def main():
    recorded = conversations()
    tokens = masks = rewards = 0
    for conversation in recorded:
        place = {'task_id': conversation['task']['id'], 'seed': conversation['userSeed']}
        output = await loop_of(Recorded(conversation)).run({}, extra_info=place)
        ids = [token for node in conversation['nodes'] for token in node['tokens']]
        mask = [value for node in conversation['nodes'] for value in node['mask']]
        for i in range(1, len(ids)):
            if ids[i] == END and mask[i - 1]:
                mask[i] = 1
        last = max(i for i, value in enumerate(mask) if value) + 1
        tokens += (output.prompt_ids + output.response_ids)[:last] == ids[:last]
        masks += ([0] * len(output.prompt_ids) + output.response_mask)[:last] == mask[:last]
        rewards += output.reward_score == conversation['reward']
    row(
        'verl, agent loop',
        f'{len(recorded)} recorded conversations',
        f'tokens of {tokens}, masks of {masks} and rewards of {rewards} equal; the end of a turn after a tool call is sampled (mask 1), and given in the playground',
        tokens == masks == rewards == len(recorded),
    )
    says = Recorded(recorded[0])
    says.kill = server.kill
    place = {'task_id': recorded[0]['task']['id'], 'seed': recorded[0]['userSeed']}
    try:
        error = str(await loop_of(says).run({}, extra_info=place))
    except ConnectionError as failure:
        error = str(failure)
    row('verl, agent loop', 'server killed', 'an error that names the server, and no reward', server.url in error and 'reward_score' not in error)


asyncio.run(main())
folder = WORK / 'verl'
for name in ('rows', 'validation'):
    pandas.read_json(folder / f'{name}.jsonl', lines=True).to_parquet(folder / f'{name}.parquet')
config = OmegaConf.create({'max_prompt_length': 1024, 'prompt_key': 'prompt', 'return_raw_chat': True, 'filter_overlong_prompts': False})
rows = {name: RLHFDataset(data_files=str(folder / f'{name}.parquet'), tokenizer=tokenizer, config=config) for name in ('rows', 'validation')}
tasks = {name: {own['extra_info']['task_id'] for own in rows[name].dataframe} for name in rows}
row('verl, RLHFDataset', 'rows.parquet, validation.parquet', f'{len(rows["rows"])} and {len(rows["validation"])} rows, none in both', not tasks['rows'] & tasks['validation'])
overrides = (folder / 'train.sh').read_text().split('main_ppo \\\n')[1].replace('"$@"', '--cfg job')
run = subprocess.run(['sh', '-c', f'{sys.executable} -m verl.trainer.main_ppo {overrides}'], capture_output=True, text=True, cwd=folder)
row('verl, Hydra', 'the overrides of train.sh', f'{overrides.count("=")} accepted' if run.returncode == 0 else run.stderr[-300:], run.returncode == 0)
