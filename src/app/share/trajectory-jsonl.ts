/** @file Trajectories for other tools: a line a rollout, with TRL's names of columns and verl's `score`. */
import { path, toMessages } from '../../agent/trajectory.ts';
import type { Trajectory } from '../../agent/types.ts';
import type { RolloutSummary } from '../../training/types.ts';

/**
 * `prompt` and `completion` are messages, split before the agent's first turn; `prompt_ids` and `completion_ids` the exact
 * tokens, split before the first that was sampled. `completion_mask` is 1 where the loss is, `logprobs` the sampler's.
 */
export function trajectoryLine(trajectory: Trajectory, rollout: RolloutSummary | undefined): Record<string, unknown> {
  const { messages } = toMessages(trajectory);
  const firstTurn = messages.findIndex(({ role }) => role === 'assistant');
  const turns = firstTurn < 0 ? messages.length : firstTurn;
  const nodes = path(trajectory);
  const tokens = nodes.flatMap((node) => node.tokens);
  const mask = nodes.flatMap((node) => node.mask);
  const firstSampled = mask.indexOf(1);
  const sampled = firstSampled < 0 ? tokens.length : firstSampled;
  return {
    step: rollout?.step ?? null,
    id: trajectory.id,
    group: trajectory.group,
    index: trajectory.index,
    task: trajectory.task.id,
    prompt: messages.slice(0, turns),
    completion: messages.slice(turns),
    reward: trajectory.reward,
    score: trajectory.reward,
    advantage: rollout?.advantage ?? null,
    termination: trajectory.termination,
    num_turns: trajectory.turns,
    prompt_ids: tokens.slice(0, sampled),
    completion_ids: tokens.slice(sampled),
    completion_mask: mask.slice(sampled),
    logprobs: nodes.flatMap((node) => node.logprobs).slice(sampled),
  };
}
