/** @file The folder with which verifiers and prime-rl train: a package with a taskset over OpenEnv. */
import { type AdapterInput, jsonl, python, readme } from './adapter-input.ts';
import { VERSIONS } from './engines.ts';

export function verifiers(input: AdapterInput): Record<string, string> {
  const { config, rows, title, url } = input;
  return {
    'pyproject.toml': `[project]
name = "mua-environment"
version = "0.1.0"
description = ${python(`${title} of the MUA-RL Playground, over OpenEnv.`)}
requires-python = ">=3.11"
dependencies = ["verifiers[openenv]==${VERSIONS.verifiers}"]

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
      [
        'uv pip install -e .',
        `vf-eval mua_environment --model MODEL --client.base-url URL --sampling.max-tokens ${config.response_length_one_turn} --env.player.harness.id null --env.player.runtime.type subprocess --push False`,
      ],
      [
        'Train with prime-rl on the taskset `mua_environment`. The settings of the optimizer and of GRPO belong into its TOML; they are listed below.',
        'The flags of `vf-eval` are needed: without them, a shell in a paid sandbox plays, and the results are uploaded.',
        `A turn has at most ${config.response_length_one_turn} tokens, and a conversation at most ${config.max_model_len}: set both in the settings of the engine that samples.`,
        'If the server or the customer fails, the rollout ends with an error and has no reward. `--resume` plays it again.',
        'verifiers shows the model each observation as JSON, with the action’s schema. A reply that is no JSON is said to the customer or, with `<tool_call>` markup, is a tool call.',
        'The first observation holds the policy (`messages`) and the tools.',
      ],
      new Set(),
    ),
  };
}
