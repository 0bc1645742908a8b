/** @file Writes conversations for other tools, one in each line: rollouts as TRL and as verl write them, and chats for fine-tuning. */
import { InputError, shown } from '../base/input-error.ts';
import { path } from '../base/message-path.ts';
import { renderConversation } from '../agent/chat-template.ts';
import { spoken } from '../agent/tool-call.ts';
import { flatten, toMessages } from '../agent/trajectory.ts';
import { recordedEnding } from '../base/recorded-ending.ts';
import { recordedReward } from '../base/total-reward.ts';
import type { Tokenizer } from '../agent/types.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';

/**
 * A line with one rollout. `prompt` and `completion` are messages, split before the agent's first turn. `prompt_ids` and `completion_ids`
 * are the exact tokens, split before the first sampled token. `completion_mask` is 1 for tokens with a loss. `logprobs` are the sampler's
 * log-probabilities. `reward` and `score` are the outcome, or the reward of the other tool that recorded the conversation. `rewards` has the
 * terms of the training reward, if it is more than the outcome. The columns of the other tool follow.
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
    reward: recordedReward(trajectory),
    score: recordedReward(trajectory),
    ...(trajectory.rewards && { rewards: trajectory.rewards }),
    advantage: rollout?.advantage ?? null,
    termination: recordedEnding(trajectory),
    num_turns: trajectory.turns,
    ...(trajectory.error !== undefined && { error: trajectory.error }),
    prompt_ids: tokens.slice(0, sampled),
    completion_ids: tokens.slice(sampled),
    completion_mask: mask.slice(sampled),
    logprobs: nodes.flatMap((node) => node.logprobs).slice(sampled),
    ...trajectory.foreign?.columns,
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
 * A line as in verl's `trainer.rollout_data_dir` (`_dump_generations`). `input` and `output` are the tokens as texts without special
 * tokens, split before the first sampled token. A conversation without tokens gets those of the model's own format. `gts` has the gold
 * actions, which verl takes from the data. Fields such as `termination` are additions.
 * @param tokenizer the tokenizer of the model that played the agent
 * @throws InputError if it is not the tokenizer of the conversation
 */
export function verlLine(
  trajectory: Trajectory,
  step: number | null,
  tools: readonly ToolSchema[] | undefined,
  tokenizer: Tokenizer,
): Record<string, unknown> {
  checkTokenizer(trajectory, tokenizer);
  const own = flatten(trajectory);
  const { tokens, lossMask } = own.tokens.length > 0 ? own : renderConversation(tokenizer, toMessages(trajectory, tools));
  const first = lossMask.indexOf(1);
  const split = first < 0 ? tokens.length : first;
  const special = new Set(tokenizer.format.control.map((token) => tokenizer.id(token)));
  const plain = (ids: readonly number[]) => tokenizer.decode(ids.filter((id) => !special.has(id)));
  return {
    input: plain(tokens.slice(0, split)),
    output: plain(tokens.slice(split)),
    gts: trajectory.task.actions,
    score: recordedReward(trajectory),
    step,
    request_id: trajectory.id,
    uid: trajectory.group,
    num_turns: trajectory.turns,
    termination: recordedEnding(trajectory),
    ...(trajectory.error !== undefined && { error: trajectory.error }),
    ...trajectory.foreign?.columns,
  };
}

function checkTokenizer(trajectory: Trajectory, tokenizer: Tokenizer): void {
  for (const { content = '', tokens, mask } of path(trajectory)) {
    if (!mask.includes(1)) continue;
    const text = spoken(tokenizer.decode(tokens));
    if (!text.includes(content))
      throw new InputError(
        `the tokens of conversation ${trajectory.id} are ${shown(text, 40)} in this tokenizer: expected ${shown(content, 40)}, as in the tokenizer of the model that played the agent`,
      );
  }
}

/** A line of chat JSONL in TRL's conversational format, for supervised fine-tuning. */
export const chatLine = (trajectory: Trajectory, tools: readonly ToolSchema[] | undefined): Record<string, unknown> => ({
  ...toMessages(trajectory, tools),
  id: trajectory.id,
  task: trajectory.task.id,
  reward: recordedReward(trajectory),
});
