"""Plays with an exported adapter against `mua env-serve`. Usage: python3 adapters.py trl|verl FOLDER URL TASK_ID.

The adapter's own code runs. OpenEnv's client and verl's base class are stand-ins of the same interface, so that this needs
nothing but Python. Prints one JSON document.
"""

import asyncio
import base64
import inspect
import json
import os
import socket
import struct
import sys
import types
from dataclasses import asdict, dataclass, field
from urllib.parse import urlparse


class Result:
    def __init__(self, data):
        self.observation, self.reward, self.done = data['observation'], data['reward'], data['done']


class Client:
    """The interface of OpenEnv's GenericEnvClient, synchronous and asynchronous, over a socket of the standard library."""

    def __init__(self, base_url):
        self.address = urlparse(base_url)

    def connect(self):
        self.socket = socket.create_connection((self.address.hostname, self.address.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f'GET /ws HTTP/1.1\r\nHost: {self.address.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
            f'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n'.encode()
        )
        answer = b''
        while not answer.endswith(b'\r\n\r\n'):
            answer += self.read(1)
        assert b' 101 ' in answer.split(b'\r\n')[0], answer

    def read(self, count):
        data = b''
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            assert more, 'the server has closed'
            data += more
        return data

    def request(self, kind, data):
        payload = json.dumps({'type': kind, 'data': data}).encode()
        length = len(payload)
        head = bytes([0x81]) + (bytes([0x80 | length]) if length < 126 else bytes([0x80 | 126]) + struct.pack('>H', length))
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))
        _, size = self.read(2)
        size = struct.unpack('>H', self.read(2))[0] if size == 126 else struct.unpack('>Q', self.read(8))[0] if size == 127 else size
        answer = json.loads(self.read(size))
        if answer['type'] == 'error':
            raise RuntimeError(answer['data']['message'])
        return Result(answer['data'])

    def sync(self):
        reset, step = (lambda **data: self.request('reset', data)), (lambda action: self.request('step', action))
        return types.SimpleNamespace(connect=self.connect, reset=reset, step=step)

    async def __aenter__(self):
        self.connect()
        return self

    async def __aexit__(self, *_):
        self.socket.close()

    async def reset(self, **data):
        return self.request('reset', data)

    async def step(self, action):
        return self.request('step', action)


@dataclass
class AgentLoopOutput:
    """The fields of verl's class."""

    prompt_ids: list
    response_ids: list
    response_mask: list
    metrics: dict
    response_logprobs: list = None
    reward_score: float = None
    num_turns: int = 0
    extra_fields: dict = field(default_factory=dict)


class AgentLoopBase:
    """verl's base class with a model that says what the test says, a letter a token."""

    def __init__(self, texts):
        rollout = types.SimpleNamespace(response_length=100_000)
        self.config = types.SimpleNamespace(actor_rollout_ref=types.SimpleNamespace(rollout=rollout))
        self.tokenizer = types.SimpleNamespace(decode=lambda ids, skip_special_tokens: ''.join(map(chr, ids)))
        self.server_manager = self
        self.texts = texts

    async def apply_chat_template(self, messages, tools=None, remove_system_prompt=False):
        return [ord(letter) for message in messages for letter in f"{message['role']}: {message['content']}\n"]

    async def generate(self, request_id, prompt_ids, sampling_params):
        ids = [ord(letter) for letter in self.texts.pop(0)]
        return types.SimpleNamespace(token_ids=ids, log_probs=[-1.0] * len(ids))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def play_trl(row):
    from mua_environment import MuaEnvironment

    environment = MuaEnvironment()
    tools = {}
    for name, tool in inspect.getmembers(environment, predicate=inspect.ismethod):
        if name in ('reset', 'get_reward') or name.startswith('_'):
            continue
        # What transformers' get_json_schema needs.
        parameters = inspect.signature(tool).parameters
        assert all(p.annotation is not inspect.Parameter.empty for p in parameters.values()), name
        documented = [line.split(':')[0].strip() for line in tool.__doc__.partition('Args:')[2].splitlines() if line.strip()]
        assert documented == list(parameters), (name, documented)
        tools[name] = list(parameters)
    first = environment.reset(**row)
    said = environment.respond(message='Your email, please?')
    found = environment.find_user_id_by_email(email='nobody@example.com')
    before = environment.get_reward()
    environment.transfer_to_human_agents(summary='s')
    return {
        'tools': tools,
        'heard': [first, said, found, environment.respond(message='more')],
        'rewards': [before, environment.get_reward()],
        'again': environment.reset(**row),
    }


async def play_verl(row):
    from mua_agent_loop import MuaAgentLoop

    call = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
    texts = [
        'Your email, please?',
        call % ('find_user_id_by_email', '{"email": "nobody@example.com"}'),
        call % ('transfer_to_human_agents', '{"summary": "s"}'),
    ]
    loop = MuaAgentLoop(list(texts))
    output = await loop.run({}, extra_info=row)
    sampled = ''.join(chr(token) for token, m in zip(output.response_ids, output.response_mask) if m)
    return {
        **asdict(output),
        'as_said': sampled == ''.join(texts),
        'prompt': ''.join(map(chr, output.prompt_ids)),
        'given': ''.join(chr(token) for token, m in zip(output.response_ids, output.response_mask) if not m),
    }


if __name__ == '__main__':
    engine, folder, url, task = sys.argv[1:]
    os.environ['MUA_ENV_URL'] = url
    sys.path.insert(0, folder)
    module('openenv', GenericEnvClient=Client)
    for name in ('verl', 'verl.experimental', 'verl.experimental.agent_loop'):
        module(name)
    register = lambda name: lambda loop: loop
    module('verl.experimental.agent_loop.agent_loop', AgentLoopBase=AgentLoopBase, AgentLoopOutput=AgentLoopOutput, register=register)
    row = {'task_id': task, 'seed': 3, 'prompt': 'ignored'}
    print(json.dumps(play_trl(row) if engine == 'trl' else asyncio.run(play_verl(row))))
