/**
 * @file Conversations to go on from: what an episode has to know of the messages that came before. The nodes are taken as
 * they are stored, token ids verbatim; counters, the policy audit and the list of tool calls are read from them.
 */
import { historyFor } from '../environments/exact/history.ts';
import type { Task, ToolCall } from '../environments/types.ts';
import type { AuditEvent } from '../environments/violations.ts';
import type { PastAnswer } from '../users/resumed.ts';
import { TAU2_STOPS } from '../users/types.ts';
import type { EpisodeRules } from './rules.ts';
import { spoken } from './tool-call.ts';
import { path } from './trajectory.ts';
import type { MessageNode, Trajectory, UserCall } from './types.ts';

export interface Prefix {
  /** From the system message on, each the child of the one before. */
  nodes: readonly MessageNode[];
  /** Calls of the user's own in it. */
  userCalls?: readonly UserCall[];
}

/** Who acts next: `environment` where a call or an error of the agent's has had no answer yet; `nobody` after a stop word. */
export type NextParty = 'user' | 'agent' | 'environment' | 'nobody';

export function nextParty(nodes: readonly MessageNode[], stopWords: readonly string[] = TAU2_STOPS): NextParty {
  const last = nodes.findLast(({ role }) => role !== 'template');
  if (!last || last.role === 'system') return 'user';
  if (last.role === 'user') return stopWords.some((word) => last.text.includes(word)) ? 'nobody' : 'agent';
  if (last.role === 'tool') return 'agent';
  return last.toolCall || last.parseError !== undefined ? 'environment' : 'user';
}

/**
 * The conversation up to a message, so that `as` may act there. A message of that party is left out, to be said anew; a
 * call of the agent's is kept with its result.
 * @throws when the trajectory has no such node on its path
 */
export function prefixAt({ nodes, leaf, userCalls = [] }: Pick<Trajectory, 'nodes' | 'leaf' | 'userCalls'>, node: number, as: 'user' | 'agent'): Prefix {
  const all = path({ nodes, leaf });
  let end = all.findIndex(({ id }) => id === node);
  if (end < 0) throw new Error(`node ${node} is not on the way to the end of this conversation, which has the nodes ${all[0]?.id} to ${leaf}`);
  while (end > 0 && all[end]!.role === 'template') end -= 1;
  const { role } = all[end]!;
  if (role === (as === 'agent' ? 'assistant' : 'user')) return cut(all, end, userCalls);
  // An assistant's message goes with what closes it, and its call with the answer.
  const next = all.findIndex((message, i) => i > end && message.role !== 'template');
  if (role === 'assistant') return cut(all, nextParty([all[end]!]) === 'environment' && next > 0 && all[next]!.role === 'tool' ? next + 1 : next < 0 ? all.length : next, userCalls);
  return cut(all, end + 1, userCalls);
}

/** Without the last turn of the agent or the user, whoever's it is; null when nothing was said yet. */
export function withoutLast({ nodes, userCalls = [] }: Prefix, role: 'assistant' | 'user'): Prefix | null {
  const last = nodes.findLastIndex((node) => node.role === role);
  return last < 0 ? null : cut(nodes, last, userCalls);
}

/** The first `length` nodes, without a generation prompt that nobody answered; numbered anew. */
function cut(nodes: readonly MessageNode[], length: number, userCalls: readonly UserCall[]): Prefix {
  while (length > 0 && nodes[length - 1]!.role === 'template' && nodes[length - 2]?.role !== 'assistant') length -= 1;
  const kept = nodes.slice(0, length);
  const places = new Map(kept.map(({ id }, i) => [id, i]));
  return {
    // What the trainer learnt of a message, it learnt of the whole it stood in: none of that holds for a branch.
    nodes: kept.map(({ annotations: _, ...node }, i) => ({ ...node, id: i, parent: i === 0 ? null : i - 1 })),
    userCalls: userCalls.flatMap((call) => {
      const after = places.get(call.after);
      // Calls for an answer that is left out are left out with it.
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
  /** All calls of agent and user in the order of the log, with the answers they got. */
  calls: { call: ToolCall; text: string }[];
  /** What the user has heard and said. */
  past: PastAnswer[];
  /** A message of the agent's that nobody has reacted to. */
  pending: MessageNode | null;
  /** Whether there is more than the system message; whether the user has spoken. */
  begun: boolean;
  opened: boolean;
}

/** What the machine of `episode.ts` would have counted on its way through these messages. */
export function readPrefix({ nodes, userCalls = [] }: Prefix, task: Pick<Task, 'scenario'>, rules: Pick<EpisodeRules, 'countsProse'>): PrefixState {
  const state: PrefixState = { turns: 0, steps: 0, failures: 0, parseErrors: 0, toolCalls: {}, events: [], said: [], calls: [], past: [], pending: null, begun: false, opened: false };
  const messages = nodes.filter(({ role }) => role !== 'template' && role !== 'system');
  const given = task.scenario.history ? historyFor('assistant', task.scenario.history).length : 0;
  const logged: { index: number; call: ToolCall; text: string }[] = userCalls.map(({ index, call, text }) => ({ index, call, text }));
  state.begun = messages.length > 0;
  let calledBefore = 0;
  let heard = '';
  let asked: ToolCall | undefined;
  messages.slice(given).forEach((node, i, all) => {
    const last = i === all.length - 1;
    if (node.role === 'user') {
      const calls = userCalls.filter(({ after }) => after >= calledBefore && after < node.id);
      calledBefore = node.id;
      state.past.push({ heard: state.opened ? heard : null, said: node.text, calls });
      if (state.opened) state.turns += 1;
      state.steps += 1;
      state.events.push({ kind: 'user', text: node.text });
      state.opened = true;
      return;
    }
    // A greeting is a piece of the template: the user opens as if it had not been said.
    if (!state.opened) return;
    if (node.role === 'assistant') {
      if (last) {
        state.pending = node;
        return;
      }
      state.steps += 1;
      asked = node.toolCall;
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
    state.steps += 1;
    const { toolResult } = node;
    if (!toolResult || toolResult.error) state.failures += 1;
    if (!toolResult || !asked) return;
    const { name, error, index, changes } = toolResult;
    state.toolCalls[name] = (state.toolCalls[name] ?? 0) + 1;
    state.events.push({ kind: 'tool', call: asked, result: { index, text: node.text, error, changes, terminal: false } });
    logged.push({ index, call: asked, text: node.text });
  });
  state.failures += userCalls.filter(({ error }) => error).length;
  // A message with calls and one with their results.
  state.steps += 2 * userCalls.filter(({ sameMessage }) => !sameMessage).length;
  state.calls = logged.sort((a, b) => a.index - b.index).map(({ call, text }) => ({ call, text }));
  return state;
}
