"""TRL with recorded words: the exported `rollout_func`, and TRL's own tool loop with the exported environment.

The words of a recorded conversation take the place of sampling, and everything is compared with the record. A server is killed in the
middle of a batch.
"""

import json
import os
import sys
import tempfile

import torch
from datasets import Dataset
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from common import WORK, Server, conversations, row, turns, words

MODEL = str(WORK / 'hf')
server = Server()
os.environ['MUA_ENV_URL'] = server.url
tokenizer = AutoTokenizer.from_pretrained(MODEL)


def place(conversation):
    return {'task_id': conversation['task']['id'], 'seed': conversation['userSeed']}


def text_form():
    """The exported `rollout_func`: every token, mask and reward must be the recorded one."""
    sys.path.insert(0, str(WORK / 'trl-text'))
    import mua_rollout

    stops, recorded = mua_rollout.stop_tokens(tokenizer), conversations()
    tokens = masks = rewards = count = 0
    for conversation in recorded:
        talk = mua_rollout.Talk(place(conversation), tokenizer, {'enable_thinking': False})
        for node in turns(conversation):
            if not talk.done:
                talk.say(list(node['tokens']), stops)
        ids = [token for node in conversation['nodes'] for token in node['tokens']]
        mask = [value for node in conversation['nodes'] for value in node['mask']]
        # The engine needs no tokens after the agent's last turn.
        own = talk.prompt + talk.ids
        last = max(i for i, value in enumerate(mask) if value) + 1
        tokens += own == ids[:last] and own[: len(ids)] == ids[: len(own)]
        masks += [0] * len(talk.prompt) + talk.mask == mask[:last]
        rewards += talk.reward == conversation['reward']
        count += len(own)
    all_equal = tokens == masks == rewards == len(recorded)
    row(
        'TRL, rollout_func',
        f'{len(recorded)} recorded conversations, {count:,} tokens',
        f'tokens of {tokens}, masks of {masks} and rewards of {rewards} equal',
        all_equal,
    )
    talks = [mua_rollout.Talk(place(conversation), tokenizer, {'enable_thinking': False}) for conversation in recorded[:8]]
    server.kill()
    for talk, conversation in zip(talks, recorded):
        talk.say(list(turns(conversation)[0]['tokens']), stops)
    named = all(server.url in talk.error for talk in talks)
    row(
        'TRL, rollout_func',
        'server killed in a batch of 8',
        f'rewards {sorted({str(talk.reward) for talk in talks})}, errors that name the server',
        named and all(talk.reward is None for talk in talks),
    )
    server.start()
    sys.path.remove(str(WORK / 'trl-text'))
    del sys.modules['mua_server']


def said(node):
    """The turn as a call: words become a call of `respond`."""
    text = words(node).strip()
    if '<tool_call>' in text:
        return text
    return '<tool_call>\n' + json.dumps({'name': 'respond', 'arguments': {'message': text}}, ensure_ascii=False) + '\n</tool_call>'


class Scripted(GRPOTrainer):
    """Says the recorded words. Kills the server in the second turn of the first batch if `kill` is set."""

    kill, seen = False, []

    def _generate_single_turn(self, prompt_ids, *more, **named):
        out = []
        for ids in prompt_ids:
            text = self._tokenizer.decode(ids)
            first = text.split('<|im_start|>user\n', 1)[1].split('<|im_end|>')[0]
            done = text.split('<|im_start|>user', 1)[-1].count('<tool_call>')
            own = turns(self.by_opening[first])
            text = said(own[done]) if done < len(own) else 'Goodbye.'
            out.append(self._tokenizer.encode(text, add_special_tokens=False) + [self._tokenizer.eos_token_id])
        if self.kill and done > 0:
            self.kill = False
            server.kill()
        return out, None

    def _generate(self, prompts):
        result = super()._generate(prompts)
        self.generated = [result[1], result[2]]  # completion ids and the mask of TRL's tool loop
        return result

    def _calculate_rewards(self, inputs, prompts, completions, ids):
        result = super()._calculate_rewards(inputs, prompts, completions, ids)
        for given, reward, completion, tokens, mask in zip(inputs, result[:, 0].tolist(), completions, *self.generated):
            conversation = self.by_place[given['task_id'], given['seed']]
            heard = [message['content'] for message in completion if message['role'] == 'tool']
            recorded = [node['text'] for node in conversation['nodes'] if node['role'] in ('tool', 'user')][1:]
            own = [self._tokenizer.encode(said(node), add_special_tokens=False) + [self._tokenizer.eos_token_id] for node in turns(conversation)]
            calls = sum(own[: max(1, len(heard))], [])
            sampled = [token for token, value in zip(tokens, mask) if value]
            differ = [(mine, theirs) for mine, theirs in zip(heard, recorded) if mine != theirs]
            self.seen.append({
                'words': not differ,
                # TRL calls the method in Python: a wrong argument fails there, and the server has its own words for it.
                'refused': all(mine.startswith("{'error': ") and 'argument' in mine and 'argument' in theirs for mine, theirs in differ),
                'reward': reward == conversation['reward'],
                'tokens': sampled[: len(calls)] == calls,
            })
        return result


def calls_form():
    sys.path.insert(0, str(WORK / 'trl'))
    from mua_environment import MuaEnvironment

    by_opening = {}
    for conversation in conversations() + conversations('trials'):
        if conversation['termination'] != 'context_full':
            by_opening.setdefault(next(node['text'] for node in conversation['nodes'] if node['role'] == 'user'), conversation)
    chosen = list(by_opening.values())[:32]
    rows = [
        {'prompt': [{'role': 'system', 'content': chosen[0]['nodes'][0]['text']}, {'role': 'user', 'content': ''}], **place(conversation)}
        for conversation in chosen
    ]

    def trainer():
        args = GRPOConfig(
            output_dir=tempfile.mkdtemp(), use_cpu=True, bf16=False, report_to='none', logging_steps=1, max_steps=1, save_strategy='no',
            num_generations=2, generation_batch_size=64, per_device_train_batch_size=8, gradient_accumulation_steps=8,
            max_completion_length=2048, seed=1, chat_template_kwargs={'enable_thinking': False}, gradient_checkpointing=False,
        )
        made = Scripted(model=MODEL, args=args, train_dataset=Dataset.from_list(rows), environment_factory=MuaEnvironment)
        made.by_opening = by_opening
        made.by_place = {tuple(place(conversation).values()): conversation for conversation in chosen}
        made.seen = []
        return made

    killed = trainer()
    killed.kill = True
    try:
        killed.train()
        error = 'no error'
    except ConnectionError as failure:
        error = str(failure)
    zeros = sum(not seen['reward'] for seen in killed.seen)
    row('TRL, tool loop', 'server killed in a batch of 64', 'training stops with an error that names the server; no reward', server.url in error and zeros == 0)
    server.start()
    again = trainer()
    again.train()
    seen = again.seen
    count = lambda key: sum(one[key] for one in seen)
    row(
        'TRL, tool loop',
        f'{len(seen)} rollouts with the words of {len(chosen)} recorded conversations, the server started again',
        f'words of {count("words")}, sampled tokens of {count("tokens")} and rewards of {count("reward")} equal; '
        f'in {len(seen) - count("words")}, TRL says in its own words that an argument of a call is wrong',
        len(seen) == 64 and all(one['refused'] and one['reward'] and one['tokens'] for one in seen),
    )


text_form()
calls_form()
server.kill()
