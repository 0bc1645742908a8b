/** @file TRL's form of an environment for models that were trained to call tools: a class with a method for each tool. */
import type { ToolSchema } from '../records/task.ts';
import { method, RESPOND } from './python-tools.ts';

export const trlEnvironment = (
  title: string,
  tools: readonly ToolSchema[],
): string => `"""${title} as an environment of TRL's GRPOTrainer: a method for each tool, and respond() to talk to the customer."""

from mua_server import SERVER, Episode


class MuaEnvironment:
    _batch, _scored = [], False

    def __init__(self):
        self._episode = Episode()

    def reset(self, **row):
        if MuaEnvironment._scored:
            MuaEnvironment._batch, MuaEnvironment._scored = [], False
        MuaEnvironment._batch.append(self)
        return self._episode.reset(row["task_id"], row["seed"])["content"]

    def get_reward(self):
        """The reward of the server. None, which TRL leaves out, if the server or the customer failed."""
        MuaEnvironment._scored = True
        episodes = [environment._episode for environment in MuaEnvironment._batch]
        # If no conversation has a reward, TRL would update the weights by the KL term alone.
        if len(episodes) > 1 and all(episode.reward is None for episode in episodes):
            raise ConnectionError(
                f"no conversation of this batch has a reward: {episodes[0].error or SERVER}. Start the server, then start train.py again"
            )
        return self._episode.reward

    def _call(self, tool, **arguments):
        if self._episode.done:
            return "The conversation is over."
        given = {name: value for name, value in arguments.items() if value is not None}
        seen = self._episode.step({"name": tool, "arguments": given})
        return "The conversation is over." if seen is None else seen["content"]
${[...tools, RESPOND].map(method).join('')}`;
