"""Plays with an exported adapter against `mua env-serve`. Usage: python3 adapters.py trl|trl-text|verl|skyrl FOLDER URL TASK_ID [dead].

The adapter's own code runs. OpenEnv's client and the classes of the engines are stand-ins, so that this needs nothing but Python. Each
stand-in has the signature of the installed package (tests/engines/signatures.json). With `dead`, URL is an address without a server
after the first answer. Prints one JSON document.
"""

import asyncio
import base64
import contextlib
import inspect
import json
import os
import re
import socket
import struct
import sys
import types
from pathlib import Path
from urllib.parse import urlparse

SIGNATURES = {
    name: inspect.Signature([
        inspect.Parameter(own, inspect._ParameterKind[kind], default=None if optional else inspect.Parameter.empty)
        for own, kind, optional in parameters
    ])
    for functions in json.loads((Path(__file__).parent.parent / 'engines' / 'signatures.json').read_text()).values()
    for name, parameters in functions.items()
}


def like(name):
    """The function of the package: a call with other arguments than the package has is an error."""
    signature = SIGNATURES[name]

    def decorate(function):
        def checked(*args, **kwargs):
            signature.bind(*args, **kwargs)
            return function(*args, **kwargs)

        return checked

    return decorate


CLIENT = 'openenv.GenericEnvClient.'
SYNC = 'openenv.core.sync_client.SyncEnvClient.'
LOOP = 'verl.experimental.agent_loop.agent_loop.AgentLoopBase.'


class Result:
    def __init__(self, data):
        self.observation, self.reward, self.done = data['observation'], data['reward'], data['done']


class Client:
    """The interface of OpenEnv's GenericEnvClient, synchronous and asynchronous, over a socket of the standard library."""

    @like(CLIENT + '__init__')
    def __init__(self, base_url):
        self.address, self.socket = urlparse(base_url), None

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
        # Like OpenEnv's client, it connects when it is used.
        if self.socket is None:
            self.connect()
        payload = json.dumps({'type': kind, 'data': data}).encode()
        length = len(payload)
        head = bytes([0x81]) + (bytes([0x80 | length]) if length < 126 else bytes([0x80 | 126]) + struct.pack('>H', length))
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))
        _, size = self.read(2)
        size = struct.unpack('>H', self.read(2))[0] if size == 126 else struct.unpack('>Q', self.read(8))[0] if size == 127 else size
        answer = json.loads(self.read(size))
        if answer['type'] == 'error':
            raise RuntimeError(f"Server error: {answer['data']['message']} (code: {answer['data']['code']})")
        return Result(answer['data'])

    @like(CLIENT + 'sync')
    def sync(self):
        return SyncClient(self)

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    @like(CLIENT + '__aenter__')
    async def __aenter__(self):
        self.connect()
        return self

    async def __aexit__(self, *_):
        self.close()

    @like(CLIENT + 'reset')
    async def reset(self, **data):
        return self.request('reset', data)

    @like(CLIENT + 'step')
    async def step(self, action):
        return self.request('step', action)


class SyncClient:
    def __init__(self, client):
        self.client = client

    @like(SYNC + 'reset')
    def reset(self, **data):
        return self.client.request('reset', data)

    @like(SYNC + 'step')
    def step(self, action):
        result = self.client.request('step', action)
        if DEAD:
            self.client.close()
            self.client.address = urlparse('http://127.0.0.1:1')
        return result

    @like(SYNC + 'close')
    def close(self):
        self.client.close()


class Fields:
    """An object with the fields of the package's class."""

    def __init__(self, **fields):
        SIGNATURES[self.name].bind(self, **fields)
        vars(self).update(fields)


class AgentLoopOutput(Fields):
    name = 'verl.experimental.agent_loop.agent_loop.AgentLoopOutput.__init__'


class TokenOutput(Fields):
    name = 'verl.workers.rollout.replica.TokenOutput.__init__'


END = ord('¶')


class AgentLoopBase:
    """verl's base class with a model that says what the test says: a letter a token, and END at the end of a turn."""

    # Some chat templates leave out the tools.
    writes_tools = True

    def __init__(self, texts, prompt_length=100_000):
        self.rollout_config = types.SimpleNamespace(response_length=100_000, prompt_length=prompt_length)
        decode = lambda ids, skip_special_tokens: ''.join(chr(token) for token in ids if token != END)
        self.tokenizer = types.SimpleNamespace(decode=decode, eos_token_id=END)
        self.server_manager = self
        self.texts = texts

    @staticmethod
    def written(messages):
        return [ord(letter) for message in messages for letter in f"{message['role']}: {message['content']}\n"]

    @like(LOOP + 'ct_build_initial_tokens')
    async def ct_build_initial_tokens(self, messages, tools=None):
        listed = [ord(letter) for letter in f'tools: {json.dumps(tools)}\n'] if tools and self.writes_tools else []
        return (listed + self.written(messages))[-self.rollout_config.prompt_length :]

    @like(LOOP + 'ct_merge_assistant_token')
    async def ct_merge_assistant_token(self, runtime_token_ids, assistant_token_ids, response_mask, response_logprobs=None, assistant_logprobs=None):
        merged = types.SimpleNamespace(token_ids=runtime_token_ids + assistant_token_ids)
        logprobs = None if response_logprobs is None else response_logprobs + assistant_logprobs
        return merged, response_mask + [1] * len(assistant_token_ids), logprobs

    @like(LOOP + 'ct_merge_context_msg')
    async def ct_merge_context_msg(self, previous_messages, updated_messages, runtime_token_ids, response_mask, response_logprobs=None, tools=None):
        assert updated_messages[: len(previous_messages)] == previous_messages
        given = self.written(updated_messages[len(previous_messages) :])
        logprobs = None if response_logprobs is None else response_logprobs + [0.0] * len(given)
        return types.SimpleNamespace(token_ids=runtime_token_ids + given), response_mask + [0] * len(given), logprobs

    @like('verl.workers.rollout.llm_server.LLMServerClient.generate')
    async def generate(self, request_id, *, prompt_ids, sampling_params):
        ids = ([ord(letter) for letter in self.texts.pop(0)] + [END])[: sampling_params['max_tokens']]
        return TokenOutput(token_ids=ids, log_probs=[-1.0] * len(ids))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def play_trl(row):
    import mua_server
    from mua_environment import MuaEnvironment

    environment, other = MuaEnvironment(), MuaEnvironment()
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
    played = {
        'tools': tools,
        'heard': [first, said, found, environment.respond(message='more')],
        'rewards': [before, environment.get_reward()],
        'again': environment.reset(**row),
    }
    if DEAD:
        # Every conversation of the batch fails.
        other.reset(**row)
        for one in (environment, other):
            one.respond(message='Hello')
            one.respond(message='Hello')
        mua_server.WAITS = (0.1,)
        mua_server.URL = 'http://127.0.0.1:1'
        played['batch'] = error_of(environment.get_reward)
        played['reset'] = error_of(lambda: environment.reset(**row))
    return played


def error_of(run):
    try:
        return ['value', run()]
    except Exception as error:
        return [type(error).__name__, str(error)]


class Letters:
    """A tokenizer with a letter a token and the markup of a chat, with what `mua_rollout.py` needs of Hugging Face's class."""

    eos_token, eos_token_id, pad_token_id = chr(END), END, 0
    # Some chat templates leave out the tools.
    writes_tools = True

    def get_vocab(self):
        return {chr(END): END, '</tool_call>': 1}

    def apply_chat_template(self, messages, tools=None, add_generation_prompt=False, tokenize=True, return_dict=True):
        listed = f'<tools>{json.dumps(tools)}' if tools and self.writes_tools else ''
        text = listed + ''.join(f"<{message['role']}>{message['content']}{chr(END)}\n" for message in messages) + '<assistant>' * add_generation_prompt
        return self.encode(text) if tokenize else text

    def encode(self, text, add_special_tokens=True):
        return [1 if part == '</tool_call>' else ord(part) for part in re.findall('</tool_call>|.', text, re.S)]

    def decode(self, ids):
        return ''.join('</tool_call>' if token == 1 else chr(token) for token in ids)


def play_text(row):
    """The conversation of `rollout_func`, without a model: a talk gets the words as sampled tokens."""
    torch = types.SimpleNamespace(no_grad=lambda: lambda function: function)
    sys.modules['torch'] = torch
    import mua_rollout

    tokenizer = Letters()
    stops = mua_rollout.stop_tokens(tokenizer)
    mua_rollout.LIMITS.update(turn=100_000, context=100_000)
    call = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
    talk = mua_rollout.Talk(row, tokenizer, {})
    prompt = tokenizer.decode(talk.prompt)
    texts = ['Your email, please?' + chr(END), call % ('find_user_id_by_email', '{"email": "nobody@example.com"}'), call % ('transfer_to_human_agents', '{"summary": "s"}')]
    for text in texts:
        talk.say(tokenizer.encode(text) + [ord('x')] * 3, stops)
    given = tokenizer.decode([token for token, mask in zip(talk.ids, talk.mask) if not mask])
    sampled = tokenizer.decode([token for token, mask in zip(talk.ids, talk.mask) if mask])
    cut = mua_rollout.Talk(row, tokenizer, {})
    mua_rollout.LIMITS.update(turn=5)
    cut.say(tokenizer.encode('Your email, please?'), stops)
    mua_rollout.LIMITS.update(turn=100_000, context=len(cut.prompt) + 30)
    full = mua_rollout.Talk(row, tokenizer, {})
    full.say(tokenizer.encode('Your email?' + chr(END)), stops)
    tokenizer.writes_tools = False
    try:
        blind = mua_rollout.Talk(row, tokenizer, {})
    except Exception as error:
        blind = [type(error).__name__, str(error)]
    return {
        'blind': blind,
        'prompt': prompt, 'given': given, 'as_said': sampled == ''.join(texts), 'reward': talk.reward, 'done': talk.done, 'error': talk.error,
        'cut': [cut.reward, cut.done, len(cut.ids)], 'full': [full.reward, full.done, sum(full.mask), len(full.ids)],
    }


async def play_verl(row):
    import mua_agent_loop

    call = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
    texts = [
        'Your email, please?',
        call % ('find_user_id_by_email', '{"email": "nobody@example.com"}'),
        call % ('transfer_to_human_agents', '{"summary": "s"}'),
    ]
    limits = mua_agent_loop.TURN_TOKENS, mua_agent_loop.MAX_TOKENS
    mua_agent_loop.TURN_TOKENS = mua_agent_loop.MAX_TOKENS = 100_000
    output = await mua_agent_loop.MuaAgentLoop(list(texts)).run({}, extra_info=row)
    sampled = ''.join(chr(token) for token, m in zip(output.response_ids, output.response_mask) if m)
    short = mua_agent_loop.MuaAgentLoop(list(texts), prompt_length=20)
    mua_agent_loop.TURN_TOKENS = 5
    cut = await mua_agent_loop.MuaAgentLoop(list(texts)).run({}, extra_info=row)
    mua_agent_loop.URL, mua_agent_loop.WAITS = 'http://127.0.0.1:1', (0.1,)
    try:
        dead = await mua_agent_loop.MuaAgentLoop(list(texts)).run({}, extra_info=row)
    except Exception as error:
        dead = [type(error).__name__, str(error)]
    mua_agent_loop.URL = os.environ['MUA_ENV_URL']
    try:
        await short.run({}, extra_info=row)
    except Exception as error:
        short = str(error)
    blind = mua_agent_loop.MuaAgentLoop(list(texts))
    blind.writes_tools = False
    try:
        await blind.run({}, extra_info=row)
    except Exception as error:
        blind = [type(error).__name__, str(error)]
    return {
        **vars(output),
        'blind': blind,
        'limits': limits,
        'as_said': sampled == ''.join(text + chr(END) for text in texts),
        'prompt': ''.join(map(chr, output.prompt_ids)),
        'given': ''.join(chr(token) for token, m in zip(output.response_ids, output.response_mask) if not m),
        'cut': [cut.reward_score, len(cut.response_ids)],
        'dead': dead,
        'short': short,
    }


class BaseTextEnv:
    @like('skyrl_gym.envs.base_text_env.BaseTextEnv.__init__')
    def __init__(self):
        pass


class BaseTextEnvStepOutput(dict):
    def __init__(self, **fields):
        super().__init__(fields)


def play_skyrl(row):
    import mua_server
    from mua_env import MuaEnv

    env = MuaEnv(env_config={}, extras={'extra_info': row})
    messages, metadata = env.init([])
    steps = [env.step('Your email, please?')]
    if DEAD:
        steps.append(error_of(lambda: env.step('Hello')))
    else:
        steps.append(env.step('<tool_call>\n{"name": "transfer_to_human_agents", "arguments": {"summary": "s"}}\n</tool_call>'))
    env.close()
    return {'messages': messages, 'tools': len(metadata['tools']), 'steps': steps}


if __name__ == '__main__':
    engine, folder, url, task, *more = sys.argv[1:]
    DEAD = bool(more)
    os.environ['MUA_ENV_URL'] = url
    sys.path.insert(0, folder)
    module('openenv', GenericEnvClient=Client)
    for name in ('verl', 'verl.experimental', 'verl.experimental.agent_loop', 'skyrl_gym.envs'):
        module(name)
    register = like('verl.experimental.agent_loop.agent_loop.register')(lambda name: lambda loop: loop)
    module('verl.experimental.agent_loop.agent_loop', AgentLoopBase=AgentLoopBase, AgentLoopOutput=AgentLoopOutput, register=register)
    module('skyrl_gym', register=like('skyrl_gym.register')(lambda **_: None))
    module('skyrl_gym.envs.base_text_env', BaseTextEnv=BaseTextEnv, BaseTextEnvStepOutput=BaseTextEnvStepOutput)
    row = {'task_id': task, 'seed': 3, 'prompt': 'ignored'}
    play = {'trl': play_trl, 'trl-text': play_text, 'verl': lambda own: asyncio.run(play_verl(own)), 'skyrl': play_skyrl}[engine]
    with contextlib.redirect_stdout(sys.stderr):
        played = play(row)
    print(json.dumps(played))
