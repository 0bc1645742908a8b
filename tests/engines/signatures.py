"""The signatures of the installed engines that our adapters and the stand-ins of the tests use. Prints JSON.

Usage: python signatures.py trl|verl|openenv. signatures.json holds the answers of the pinned versions: name of the environment → name of
the function → its parameters, each as [name, kind, whether it has a default].
"""

import importlib
import inspect
import json
import sys

NAMES = {
    'trl': {
        'trl.GRPOTrainer': ['__init__'],
        'openenv.GenericEnvClient': ['__init__', 'sync', 'reset', 'step', 'close', '__aenter__', '__aexit__'],
        'openenv.core.sync_client.SyncEnvClient': ['connect', 'reset', 'step', 'close'],
    },
    'verl': {
        'verl.experimental.agent_loop.agent_loop': ['register'],
        'verl.experimental.agent_loop.agent_loop.AgentLoopBase': [
            'run',
            'ct_build_initial_tokens',
            'ct_merge_assistant_token',
            'ct_merge_context_msg',
        ],
        'verl.experimental.agent_loop.agent_loop.AgentLoopOutput': ['__init__'],
        'verl.workers.rollout.llm_server.LLMServerClient': ['generate'],
        'verl.workers.rollout.replica.TokenOutput': ['__init__'],
    },
    'openenv': {
        'skyrl_gym.envs.base_text_env.BaseTextEnv': ['__init__', 'init', 'step', 'close'],
        'skyrl_gym.envs.base_text_env.BaseTextEnvStepOutput': ['__init__'],
        'skyrl_gym': ['register', 'make'],
    },
}


def owner(path):
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, name = path.rsplit('.', 1)
        return getattr(importlib.import_module(module), name)


def parameters(holder, name):
    fields = getattr(holder, 'model_fields', None) or getattr(holder, '__annotations__', {})
    if name == '__init__' and fields and holder.__init__ in (dict.__init__, getattr(holder.__base__, '__init__', None)):
        # A model of pydantic or a typed dict: its fields.
        required = lambda field: field.is_required() if hasattr(field, 'is_required') else True
        return [['self', 'POSITIONAL_OR_KEYWORD', False]] + [[key, 'KEYWORD_ONLY', not required(field)] for key, field in fields.items()]
    signature = inspect.signature(getattr(holder, name))
    return [[p.name, p.kind.name, p.default is not inspect.Parameter.empty] for p in signature.parameters.values()]


if __name__ == '__main__':
    found = {f'{path}.{name}': parameters(owner(path), name) for path, names in NAMES[sys.argv[1]].items() for name in names}
    print(json.dumps(found))
