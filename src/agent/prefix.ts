/**
 * @file Stored conversations that an episode continues. The nodes keep their token ids. Counters, audit events and tool calls
 * are reconstructed from the nodes.
 */
import { historyFor } from '../environments/history.ts';
import type { Task, ToolCall, ToolSchema } from '../records/task.ts';
import type { MessageNode, Trajectory, UserCall } from '../records/trajectory.ts';
import type { UserRequest } from '../records/user.ts';
import type { AuditEvent } from './violations.ts';
import type { PastAnswer } from '../users/resumed.ts';
import { saysStop } from '../users/stop.ts';
import { STOP_WORDS } from '../users/types.ts';
import type { EpisodeRules } from './rules.ts';
import { spoken } from './tool-call.ts';
import { answersOf, callsOf, path } from '../base/message-path.ts';

export interface Prefix {
  /** All messages; the system message comes first. The parent of each node is the node before it. */
  nodes: readonly MessageNode[];
  /** Tool calls of the user. */
  userCalls?: readonly UserCall[];
  /** The requests that produced the customer's messages, if the episode continues the same conversation. */
  userRequests?: readonly UserRequest[] | undefined;
  /** The first tokens of the agent's next turn; the model continues from them. Only if the agent acts next. */
  turn?: BegunTurn;
}

/** The given first tokens of a turn. Each array has one entry for each token. */
export interface BegunTurn {
  tokens: readonly number[];
  /** 1 if the token was sampled, 0 if a visitor chose it. */
  mask: readonly number[];
  /** Null where the mask is 0. */
  logprobs: readonly (number | null)[];
}

/**
 * The party that acts next. `environment`: a tool call or a malformed call of the agent has no answer yet. `nobody`: the user
 * said a stop word.
 */
export type NextParty = 'user' | 'agent' | 'environment' | 'nobody';

export function nextParty(nodes: readonly MessageNode[]): NextParty {
  const last = nodes.findLast(({ role }) => role !== 'template');
  if (!last || (last.role === 'system' && !last.tools)) return 'user';
  if (last.role === 'user') return saysStop(last.text, STOP_WORDS) ? 'nobody' : 'agent';
  if (last.role === 'tool' || last.role === 'system') return 'agent';
  return last.toolCall || last.parseError !== undefined ? 'environment' : 'user';
}

/**
 * The conversation up to the message `node`, such that `as` acts next. If `as` wrote that message, it is removed, so that it
 * can be written again. The tool calls of a turn are kept together with all their results.
 * @throws if the trajectory's path has no such node
 */
export function prefixAt(
  { nodes, leaf, userCalls = [] }: Pick<Trajectory, 'nodes' | 'leaf' | 'userCalls'>,
  node: number,
  as: 'user' | 'agent',
): Prefix {
  const all = path({ nodes, leaf });
  let end = all.findIndex(({ id }) => id === node);
  if (end < 0) throw new Error(`node ${node} is not on the path of this conversation, which goes from node ${all[0]?.id} to node ${leaf}`);
  while (end > 0 && all[end]!.role === 'template') end -= 1;
  const { role } = all[end]!;
  if (role === (as === 'agent' ? 'assistant' : 'user')) return cut(all, end, userCalls);
  if (role === 'assistant') return cut(all, afterTurn(all, end), userCalls);
  const turn = role === 'tool' ? all.findLastIndex((message, i) => i < end && message.role === 'assistant') : -1;
  return cut(all, Math.max(end + 1, turn < 0 ? 0 : afterTurn(all, turn)), userCalls);
}

/** The index after a turn of the agent, its closing tokens, and the results of its calls. */
function afterTurn(all: readonly MessageNode[], turn: number): number {
  const next = all.findIndex((message, i) => i > turn && message.role !== 'template');
  if (next < 0) return all.length;
  if (nextParty([all[turn]!]) !== 'environment') return next;
  let end = next;
  while (end - next < Math.max(1, callsOf(all[turn]!).length) && all[end]?.role === 'tool') end += 1;
  return end;
}

/**
 * The conversation up to token `index` of the agent's message `node`. Token `id` replaces this token.
 * @throws if the message or the token does not exist, or if the model did not sample the token
 */
export function prefixWith(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'userCalls'>, node: number, { index, id }: OtherToken): Prefix {
  const message = path(trajectory).find((one) => one.id === node);
  if (message?.role !== 'assistant' || message.mask[index] !== 1)
    throw new Error(`token ${index} of message ${node} cannot be replaced: expected a token that the agent sampled`);
  return {
    ...prefixAt(trajectory, node, 'agent'),
    turn: {
      tokens: [...message.tokens.slice(0, index), id],
      mask: [...message.mask.slice(0, index), 0],
      logprobs: [...message.logprobs.slice(0, index), null],
    },
  };
}

/** Replaces a token of the agent: a message keeps its first `index` tokens, and token `id` comes next. */
export interface OtherToken {
  index: number;
  id: number;
}

/** The conversation before the last message of `role`. Null if `role` wrote no message. */
export function withoutLast({ nodes, userCalls = [] }: Prefix, role: 'assistant' | 'user'): Prefix | null {
  const last = nodes.findLastIndex((node) => node.role === role);
  return last < 0 ? null : cut(nodes, last, userCalls);
}

/** The first `length` nodes, with new ids from 0. A generation prompt at the end is removed if no turn follows it. */
function cut(nodes: readonly MessageNode[], length: number, userCalls: readonly UserCall[]): Prefix {
  while (length > 0 && nodes[length - 1]!.role === 'template' && nodes[length - 2]?.role !== 'assistant') length -= 1;
  const kept = nodes.slice(0, length);
  const places = new Map(kept.map(({ id }, i) => [id, i]));
  return {
    // Annotations were computed for the whole trajectory, so they do not hold for a branch.
    nodes: kept.map(({ annotations: _, ...node }, i) => ({ ...node, id: i, parent: i === 0 ? null : i - 1 })),
    userCalls: userCalls.flatMap((call) => {
      const after = places.get(call.after);
      // If a reply of the user is removed, the calls that the user made for it are removed too.
      return after !== undefined && kept.some(({ role }, i) => i > after && role === 'user') ? [{ ...call, after }] : [];
    }),
  };
}

export interface PrefixState {
  turns: number;
  steps: number;
  failures: number;
  parseErrors: number;
  toolCalls: Record<string, number>;
  events: AuditEvent[];
  said: string[];
  /** All calls of agent and user with their results, in the order of the environment's log. */
  calls: { call: ToolCall; text: string }[];
  /**
   * The messages of the user after which the world was asked for changes. `n` is the number of the message, from 0. `before` is
   * the index of the next call. `tools` are the tools that appeared.
   */
  asked: { n: number; before: number; tools: readonly ToolSchema[] }[];
  /** The number of calls of the last turn that have no result, if other calls of this turn have one. */
  unanswered: number;
  /** What the user heard and what the user answered. */
  past: PastAnswer[];
  /** The last message of the agent, if it has no answer yet. */
  pending: MessageNode | null;
  /** Whether there are messages after the system message. */
  begun: boolean;
  /** Whether the user has spoken. */
  opened: boolean;
}

/** Computes the counters that `episode.ts` has after playing these messages. */
export function readPrefix(
  { nodes, userCalls = [] }: Prefix,
  task: Pick<Task, 'scenario'>,
  rules: Pick<EpisodeRules, 'countsProse'>,
): PrefixState {
  const state: PrefixState = {
    turns: 0,
    steps: 0,
    failures: 0,
    parseErrors: 0,
    toolCalls: {},
    events: [],
    said: [],
    calls: [],
    asked: [],
    unanswered: 0,
    past: [],
    pending: null,
    begun: false,
    opened: false,
  };
  const messages = nodes.filter(({ role }) => role !== 'template' && role !== 'system');
  const given = task.scenario.history ? historyFor('assistant', task.scenario.history).length : 0;
  const logged: { index: number; call: ToolCall; text: string }[] = userCalls.map(({ index, call, text }) => ({ index, call, text }));
  state.begun = messages.length > 0;
  let calledBefore = 0;
  let heard = '';
  const answers = answersOf(nodes);
  messages.slice(given).forEach((node, i, all) => {
    const last = i === all.length - 1;
    if (node.role === 'user') {
      const calls = userCalls.filter(({ after }) => after >= calledBefore && after < node.id);
      calledBefore = node.id;
      const { tools } = nodes[nodes.indexOf(node) + 1] ?? {};
      if (tools || !last) {
        const before = logged.length - userCalls.length + userCalls.filter(({ after }) => after < node.id).length;
        state.asked.push({ n: state.past.length, before, tools: tools ?? [] });
      }
      state.past.push({ heard: state.opened ? heard : null, said: node.text, calls });
      if (state.opened) state.turns += 1;
      state.steps += 1;
      state.events.push({ kind: 'user', text: node.text });
      state.opened = true;
      return;
    }
    // The agent's greeting does not count, because it comes before the user's first message.
    if (!state.opened) return;
    if (node.role === 'assistant') {
      if (last) {
        state.pending = node;
        return;
      }
      state.steps += 1;
      if (node.toolCall) {
        if (node.content && rules.countsProse) state.said.push(node.content);
        return;
      }
      if (node.parseError !== undefined) state.parseErrors += 1;
      if (all[i + 1]!.role !== 'user') return;
      heard = node.parseError === undefined ? (node.content ?? spoken(node.text)) : spoken(node.text);
      state.said.push(heard);
      state.events.push({ kind: 'agent', text: heard });
      return;
    }
    state.turns += 1;
    if (all[i - 1]?.role !== 'tool') state.steps += 1;
    const { toolResult } = node;
    if (!toolResult || toolResult.error) state.failures += 1;
    const call = answers.get(node.id)?.call;
    if (!toolResult || !call) return;
    const { name, error, index, changes } = toolResult;
    state.toolCalls[name] = (state.toolCalls[name] ?? 0) + 1;
    state.events.push({ kind: 'tool', call, result: { index, text: node.text, error, changes, terminal: false } });
    logged.push({ index, call, text: node.text });
  });
  const turn = messages.findLastIndex(({ role }) => role === 'assistant');
  const results = turn < 0 ? 0 : messages.slice(turn).filter(({ role }) => role === 'tool').length;
  if (results > 0) state.unanswered = Math.max(0, callsOf(messages[turn]!).length - results);
  state.failures += userCalls.filter(({ error }) => error).length;
  // The calls in one message of the user count as two steps: one for the calls and one for their results.
  state.steps += 2 * userCalls.filter(({ sameMessage }) => !sameMessage).length;
  state.calls = logged.sort((a, b) => a.index - b.index).map(({ call, text }) => ({ call, text }));
  return state;
}

/**
 * @param samples whether a model on the GPU goes on
 * @throws if the prefix has no tokens for that model, or if it has the first tokens of a turn, but its last message is one that no turn of the
 * agent follows
 */
export function checkPrefix({ turn, nodes }: Prefix, samples: boolean): void {
  if (samples && nodes.length > 0 && nodes.every(({ tokens }) => tokens.length === 0))
    throw new Error('the stored conversation has no tokens: expected one that a model on the GPU has played, not a model behind a server');
  const before = nodes.findLast(({ role }) => role !== 'template');
  if (turn && before?.role !== 'user' && before?.role !== 'tool' && !before?.tools)
    throw new Error(
      `the prefix has the first tokens of a turn after a message of ${before?.role ?? 'nobody'}: expected a message of user or tool`,
    );
}
