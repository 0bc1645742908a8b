/** @file Writes conversations for other tools, one in each line: rollouts as TRL and as verl write them, and chats for fine-tuning. */
import { path } from '../base/message-path.ts';
import { generationPrompt, QWEN, renderPieces } from '../agent/chat-template.ts';
import { plainText } from '../base/text-pieces.ts';
import { toMessages } from '../agent/trajectory.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';

/**
 * A line with one rollout. `prompt` and `completion` are messages, split before the agent's first turn. `prompt_ids` and `completion_ids`
 * are the exact tokens, split before the first sampled token. `completion_mask` is 1 for tokens with a loss. `logprobs` are the sampler's
 * log-probabilities. `reward` and `score` are the outcome. `rewards` has the terms of the training reward, if it is more than the outcome.
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
    ...(trajectory.error !== undefined && { error: trajectory.error }),
    prompt_ids: tokens.slice(0, sampled),
    completion_ids: tokens.slice(sampled),
    completion_mask: mask.slice(sampled),
    logprobs: nodes.flatMap((node) => node.logprobs).slice(sampled),
  };
}

/** The mean of the advantages that are stored with the sampled tokens, or null if none are stored. Most estimators give all the same. */
export function advantageOf(nodes: Trajectory['nodes']): number | null {
  const stored = nodes.flatMap(({ annotations }) => annotations?.advantage?.filter((value) => value !== null) ?? []);
  if (stored.length === 0) return null;
  return new Set(stored).size === 1 ? stored[0]! : stored.reduce((sum, value) => sum + value, 0) / stored.length;
}

/** The step of a trajectory. In a run, the id of a group begins with its step. Null for other ids. */
export const stepOf = ({ group }: Trajectory): number | null => (/^\d+-/.test(group) ? Number(group.split('-')[0]) : null);

/**
 * A line as in verl's `trainer.rollout_data_dir` (`_dump_generations`). `input` and `output` are texts without special tokens, split before
 * the agent's first turn. `gts` has the gold actions, which verl takes from the data. Fields such as `termination` are additions.
 */
export function verlLine(trajectory: Trajectory, step: number | null, tools: readonly ToolSchema[] | undefined): Record<string, unknown> {
  const pieces = renderPieces(QWEN, toMessages(trajectory, tools));
  const first = pieces.findIndex(({ sampled }) => sampled);
  const split = first < 0 ? pieces.length : first;
  const plain = (part: typeof pieces) =>
    plainText(
      part
        .map(({ text }) => text)
        .join('')
        .replace(/<\|[a-z_]+\|>/g, ''),
      QWEN.control,
    );
  const opened = first < 0 ? generationPrompt(QWEN).replace(/<\|[a-z_]+\|>/g, '') : '';
  return {
    input: plain(pieces.slice(0, split)) + opened,
    output: plain(pieces.slice(split)),
    gts: trajectory.task.actions,
    score: trajectory.reward,
    step,
    request_id: trajectory.id,
    uid: trajectory.group,
    num_turns: trajectory.turns,
    termination: trajectory.termination,
    ...(trajectory.error !== undefined && { error: trajectory.error }),
  };
}

/** A line of chat JSONL in TRL's conversational format, for supervised fine-tuning. */
export const chatLine = (trajectory: Trajectory, tools: readonly ToolSchema[] | undefined): Record<string, unknown> => ({
  ...toMessages(trajectory, tools),
  id: trajectory.id,
  task: trajectory.task.id,
  reward: trajectory.reward,
});
