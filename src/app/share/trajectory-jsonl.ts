/** @file Trajectories for other tools: one rollout per line, with TRL's column names and verl's `score`. */
import { path } from '../../base/message-path.ts';
import { toMessages } from '../../agent/trajectory.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { Trajectory } from '../../records/trajectory.ts';

/**
 * `prompt` and `completion` are messages, split before the agent's first turn. `prompt_ids` and `completion_ids` are the
 * exact tokens, split before the first sampled token. `completion_mask` is 1 for tokens of the loss. `logprobs` are the
 * sampler's log-probabilities. `reward` and `score` are the outcome; `rewards` has the parts of the reward of training, if there are more.
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
    ...(trajectory.rewards && { rewards: trajectory.rewards }),
    advantage: rollout?.advantage ?? null,
    termination: trajectory.termination,
    num_turns: trajectory.turns,
    prompt_ids: tokens.slice(0, sampled),
    completion_ids: tokens.slice(sampled),
    completion_mask: mask.slice(sampled),
    logprobs: nodes.flatMap((node) => node.logprobs).slice(sampled),
  };
}
