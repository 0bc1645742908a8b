/** @file The start of a played conversation: a message of a stored conversation, or a new task. */
import { type OtherToken, prefixAt } from '../../agent/prefix.ts';
import { messageNumbers, path } from '../../base/message-path.ts';
import type { MessageNode, Trajectory } from '../../records/trajectory.ts';
import { type Origin, readOrigin, writeOrigin } from '../library/origin.ts';
import type { WorldRef } from '../../worlds/types.ts';

export interface From extends Origin {
  node: number;
}

/** Parses a text of the form `place/id@node`; null for any other text. */
export function parseFrom(from: string): From | null {
  const [, text, node] = /^(.+)@(\d{1,9})$/s.exec(from) ?? [];
  const origin = text ? readOrigin(text) : null;
  return origin && { ...origin, node: Number(node) };
}

export const writeFrom = (from: From) => `${writeOrigin(from)}@${from.node}`;

/** Parses a text of the form `index:id`; null for any other text. */
export function parseToken(token: string): OtherToken | null {
  const [, index, id] = /^(\d{1,6}):(\d{1,9})$/.exec(token) ?? [];
  return index && id ? { index: Number(index), id: Number(id) } : null;
}

export const writeToken = ({ index, id }: OtherToken) => `${index}:${id}`;

/**
 * The message that `from` must name so that `as` can act at `node`. If `from` names the last message, Play shows the whole
 * conversation. So `from` names the message before the last one if `as` is to replace the last message.
 * Returns null if `as` could not say anything more there.
 */
export function forkAt(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'termination'>, node: number, as: 'user' | 'agent'): number | null {
  const all = path(trajectory);
  const kept = prefixAt(trajectory, node, as).nodes.length;
  if (kept === all.length) return hasEnded(trajectory) ? null : node;
  return node === trajectory.leaf ? all[kept - 1]!.id : node;
}

/** The fork at the last message of `as`, for use when no message is chosen. Null if `as` has no message. */
export function lastFork(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'termination'>, as: 'user' | 'agent'): number | null {
  const own = path(trajectory).findLast(({ role }) => role === (as === 'agent' ? 'assistant' : 'user'));
  return own ? forkAt(trajectory, own.id, as) : null;
}

/** The name of a task's world in addresses: the domain with its level for a generated world, or the name of an imported benchmark. */
export function worldName(task: string): string {
  const [domain = '', level = ''] = task.split('/');
  return /^tau\d-/.test(domain) ? domain : `${domain}-${level}`;
}

/** The reference to a task's world for the worlds worker. */
export const worldOf = (task: string): WorldRef => ({ name: worldName(task), split: '', seed: null, number: null, task });

/** The number of leading messages whose tokens, or else whose texts, are equal in both conversations. */
export function sharedMessages(a: readonly MessageNode[], b: readonly MessageNode[]): number {
  const same = (x: MessageNode, y: MessageNode) =>
    x.role === y.role &&
    x.tokens.length === y.tokens.length &&
    x.tokens.every((token, t) => token === y.tokens[t]) &&
    (x.tokens.length > 0 || x.text === y.text);
  let shared = 0;
  while (shared < a.length && shared < b.length && same(a[shared]!, b[shared]!)) shared += 1;
  return shared;
}

/** The number of the last message among the first `count` nodes; null if there is only the system message. */
export function lastNumber(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, count: number): number | null {
  const nodes = path(trajectory);
  const last = nodes.slice(0, count).findLast(({ role }) => role !== 'template' && role !== 'system');
  return last ? messageNumbers(nodes).get(last.id)! : null;
}

/** The messages after the first `shared` nodes, without template nodes. */
export function ownMessages(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, shared: number): MessageNode[] {
  return path(trajectory)
    .slice(shared)
    .filter(({ role }) => role !== 'template');
}

/** True if the conversation ended in a way that can be scored. */
export const hasEnded = ({ termination }: Pick<Trajectory, 'termination'>) =>
  !['aborted', 'user_error', 'agent_error', 'tool_error'].includes(termination);
