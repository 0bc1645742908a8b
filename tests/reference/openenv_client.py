"""Drives `mua env-serve` with OpenEnv's own client, unmodified (huggingface/OpenEnv, `generic_client.py`).

Usage: python3 tests/reference/openenv_client.py URL, with OpenEnv's `src` (and websockets 13 or later) on PYTHONPATH.
Prints one JSON document. Without a URL it only says whether the client can be imported.
"""

import asyncio
import importlib.machinery
import importlib.util
import json
import sys
import types


def load_client():
    """GenericEnvClient. The package's `__init__` also imports the server, which needs FastAPI and pydantic 2."""
    try:
        from openenv.core import GenericEnvClient
    except ImportError:
        spec = importlib.util.find_spec('openenv')
        if spec is None:
            raise
        for name in [name for name in sys.modules if name.startswith('openenv.')]:
            del sys.modules[name]
        core = types.ModuleType('openenv.core')
        core.__path__ = [f'{spec.submodule_search_locations[0]}/core']
        core.__spec__ = importlib.machinery.ModuleSpec('openenv.core', None, is_package=True)
        sys.modules['openenv.core'] = core
        from openenv.core.generic_client import GenericEnvClient
    return GenericEnvClient


def seen(result):
    return {'observation': result.observation, 'reward': result.reward, 'done': result.done}


async def play(client_class, url):
    steps = []
    async with client_class(base_url=url) as env:
        steps.append(seen(await env.reset(seed=3, prompt=[{'role': 'user', 'content': 'a row of a dataset'}])))
        steps.append(seen(await env.step({'content': 'Your email, please?'})))
        steps.append(seen(await env.step({'name': 'find_user_id_by_email', 'arguments': {'email': 'nobody@example.com'}})))
        state = await env.state()
        steps.append(seen(await env.step({'name': 'transfer_to_human_agents', 'arguments': {'summary': 's'}})))
        try:
            await env.step({'content': 'more'})
            error = None
        except RuntimeError as failure:
            error = str(failure)
        again = seen(await env.reset(seed=3))
    return {'steps': steps, 'state': state, 'error': error, 'again': again}


def play_synchronously(client_class, url):
    with client_class(base_url=url).sync() as env:
        return [seen(env.reset(seed=4)), seen(env.step({'content': 'Hello'}))]


if __name__ == '__main__':
    client = load_client()
    if len(sys.argv) > 1:
        result = asyncio.run(play(client, sys.argv[1]))
        result['synchronous'] = play_synchronously(client, sys.argv[1])
        print(json.dumps(result))
