"""The exported environment of SkyRL-gym with recorded words, and with a server that is killed in the middle."""

import os
import sys

from common import WORK, Server, conversations, row, turns, words

server = Server()
os.environ['MUA_ENV_URL'] = server.url
sys.path.insert(0, str(WORK / 'skyrl'))
import mua_env  # registers the environment
import skyrl_gym


def begin(conversation):
    extras = {'extra_info': {'task_id': conversation['task']['id'], 'seed': conversation['userSeed']}}
    env = skyrl_gym.make('mua', env_config={}, extras=extras)
    return env, env.init([])[0]


recorded = [conversation for conversation in conversations() if conversation['termination'] != 'context_full']
same = 0
for conversation in recorded:
    env, prompt = begin(conversation)
    heard, out = [prompt[-1]['content']], None
    for node in turns(conversation):
        out = env.step(words(node))
        heard += [message['content'] for message in out['observations']]
    said = [node['text'] for node in conversation['nodes'] if node['role'] in ('user', 'tool')]
    same += out['done'] and out['reward'] == conversation['reward'] and heard == said[: len(heard)]
    env.close()
row('SkyRL-gym', f'{len(recorded)} recorded conversations', f'words and rewards of {same} equal', same == len(recorded))

env, _ = begin(recorded[0])
server.kill()
try:
    found = str(env.step('Hello'))
except ConnectionError as error:
    found = str(error)
row('SkyRL-gym', 'server killed', 'an error that names the server, and no reward', server.url in found and 'reward' not in found)
