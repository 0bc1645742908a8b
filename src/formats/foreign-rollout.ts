/** @file Turns a conversation that another tool recorded into a trajectory that the app can show. */
import { callsOf } from '../base/message-path.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { ForeignValue } from '../records/foreign.ts';
import type { RewardTerms } from '../records/rewards.ts';
import { foreignTask, type Task, type ToolCall, type Verdict } from '../records/task.ts';
import { nodesOf, type ReplayedCall } from './foreign-nodes.ts';
import type { MessageNode, TerminationReason, Trajectory } from '../records/trajectory.ts';

/** The data of one conversation in a file. Fields that the file lacks are absent or null. */
export interface ForeignRollout {
  id?: string;
  /** The id of the group. Conversations of one step with the same group are of the same task. */
  group?: string;
  index?: number;
  step?: number;
  task: string;
  messages: readonly ChatMessage[];
  tokens?: ForeignTokens;
  /** The tool calls of the customer (tau2-bench's customers have tools). Each call came after the first `after` messages. */
  userCalls?: readonly ({ after: number; call: ToolCall; text: string; error: boolean } & Partial<ReplayedCall>)[];
  /** The results of tools that are errors. */
  failed?: ReadonlySet<ChatMessage>;
  gold?: readonly ToolCall[];
  /** The task and the verdict of the replay, if the world of the conversation is known. */
  world?: { task: Task; verdict: Verdict; calls: ReadonlyMap<ChatMessage, ReplayedCall> };
  reward: number | null;
  rewards?: RewardTerms;
  /** Other values of the conversation, by name. */
  columns?: Record<string, ForeignValue>;
  advantage?: number | null;
  termination?: TerminationReason;
  /** The tool's own name for the ending. */
  ending?: string;
  turns?: number;
  error?: string;
  /** What of the row could not be read. It is a part of `error`. */
  problem?: string;
}

/** The whole conversation as tokens. `mask` is 1 for sampled tokens, else 0. */
export interface ForeignTokens {
  ids: number[];
  mask: number[];
  logprobs: (number | null)[];
}

/** @param place the conversation's id, group and index in its run */
export function foreignTrajectory(rollout: ForeignRollout, place: Pick<Trajectory, 'id' | 'group' | 'index'>): Trajectory {
  const { task, messages, tokens, userCalls = [], gold = [], reward, advantage, termination = 'unknown' } = rollout;
  const { world } = rollout;
  const { nodes, starts } = nodesOf(messages, rollout.failed, world?.calls);
  const withTokens = tokens ? placeTokens(nodes, tokens, advantage ?? null) : nodes;
  const calls = nodes.flatMap((node) => callsOf(node).map(({ name }) => name));
  const first = nodes.findIndex(({ role }) => role === 'assistant');
  return {
    ...place,
    task: world?.task ?? foreignTask(task, gold),
    seed: 0,
    nodes: withTokens,
    leaf: withTokens.at(-1)!.id,
    termination,
    ...(userCalls.length > 0 && {
      userCalls: userCalls.map(({ after, call, text, error, changes = [], index }, i) => ({
        after: starts[after]!,
        call,
        text,
        error,
        index: index ?? i,
        changes,
      })),
    }),
    turns: rollout.turns ?? (first < 0 ? 0 : nodes.slice(first).filter(({ role }) => role !== 'assistant').length),
    reward,
    ...(rollout.ending !== undefined && { ending: rollout.ending }),
    ...(rollout.rewards && { rewards: rollout.rewards }),
    foreign: { reward, ...(rollout.columns && Object.keys(rollout.columns).length > 0 && { columns: rollout.columns }) },
    verdict: world?.verdict ?? null,
    violations: [],
    toolCalls: Object.fromEntries([...new Set(calls)].map((name) => [name, calls.filter((other) => other === name).length])),
    parseErrors: nodes.filter(({ parseError }) => parseError !== undefined).length,
    seconds: { generate: 0, tool: 0, user: 0 },
    ...(rollout.error !== undefined && { error: rollout.error }),
  };
}

/**
 * Gives the tokens to nodes. Sampled tokens go to the assistant's nodes. All other tokens go to new `template` nodes before them, because
 * the file does not say where the messages between two turns begin. If the number of sampled stretches is not the number of turns, the
 * nodes get no tokens.
 */
function placeTokens(nodes: readonly MessageNode[], tokens: ForeignTokens, advantage: number | null): MessageNode[] {
  const stretches = stretchesOf(tokens.mask);
  const turns = nodes.filter(({ role }) => role === 'assistant').length;
  if (stretches.filter(({ sampled }) => sampled).length !== turns) return [...nodes];
  const placed: MessageNode[] = [];
  const tokensOf = ({ from, to }: Stretch): Pick<MessageNode, 'tokens' | 'mask' | 'logprobs'> => ({
    tokens: tokens.ids.slice(from, to),
    mask: tokens.mask.slice(from, to),
    logprobs: tokens.logprobs.slice(from, to),
  });
  const add = (node: MessageNode) => placed.push({ ...node, parent: placed.at(-1)?.id ?? null });
  const addTemplate = (stretch: Stretch) =>
    add({ id: nodes.length + placed.length, parent: null, role: 'template', text: '', ...tokensOf(stretch) });
  for (const node of nodes) {
    if (node.role !== 'assistant') {
      add(node);
      continue;
    }
    while (!stretches[0]!.sampled) addTemplate(stretches.shift()!);
    const own = stretches.shift()!;
    const weighed = advantage !== null && { annotations: { advantage: Array.from({ length: own.to - own.from }, () => advantage) } };
    add({ ...node, ...tokensOf(own), ...weighed });
  }
  for (const rest of stretches) addTemplate(rest);
  return placed;
}

interface Stretch {
  sampled: boolean;
  from: number;
  to: number;
}

/** The stretches of equal values in the mask. */
function stretchesOf(mask: readonly number[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [at, value] of mask.entries()) {
    const last = stretches.at(-1);
    if (last && last.sampled === (value === 1)) last.to = at + 1;
    else stretches.push({ sampled: value === 1, from: at, to: at + 1 });
  }
  return stretches;
}
