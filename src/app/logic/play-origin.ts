/** @file Where a played conversation begins: at a message of a stored one, or anew with a task. */
import { prefixAt } from '../../agent/prefix.ts';
import { path } from '../../agent/trajectory.ts';
import type { MessageNode, Trajectory } from '../../agent/types.ts';
import { type Origin, readOrigin, writeOrigin } from '../../storage/origin.ts';
import type { WorldRef } from '../worlds/types.ts';

/** Under this name branches stand where a run would. */
export const BRANCHES = 'branches';

export interface From extends Origin {
  node: number;
}

/** Reads `place/id@node`; null for anything else. */
export function parseFrom(from: string): From | null {
  const [, text, node] = /^(.+)@(\d{1,9})$/s.exec(from) ?? [];
  const origin = text ? readOrigin(text) : null;
  return origin && { ...origin, node: Number(node) };
}

export const writeFrom = (from: From) => `${writeOrigin(from)}@${from.node}`;

/**
 * The message that `from` has to name for `as` to act at `node`. The last one opens the conversation as it is: to say that
 * anew, the one before it is named. null where the conversation would end as it did, with nothing left to say.
 */
export function forkAt(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'termination'>, node: number, as: 'user' | 'agent'): number | null {
  const all = path(trajectory);
  const kept = prefixAt(trajectory, node, as).nodes.length;
  if (kept === all.length) return hasEnded(trajectory) ? null : node;
  return node === trajectory.leaf ? all[kept - 1]!.id : node;
}

/** Where `as` last had a say: the fork to offer where no message was chosen. null where they had none. */
export function lastFork(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'termination'>, as: 'user' | 'agent'): number | null {
  const own = path(trajectory).findLast(({ role }) => role === (as === 'agent' ? 'assistant' : 'user'));
  return own ? forkAt(trajectory, own.id, as) : null;
}

/** The world of a task as the pages of worlds name it: a generated domain with its level, or an import. */
export function worldName(task: string): string {
  const [domain = '', level = ''] = task.split('/');
  return /^tau\d-/.test(domain) ? domain : `${domain}-${level}`;
}

/** The world of a task, for the worlds worker. */
export const worldOf = (task: string): WorldRef => ({ name: worldName(task), split: '', seed: null, number: null, task });

/** How many messages two conversations have in common, token by token, from the first on. */
export function sharedMessages(a: readonly MessageNode[], b: readonly MessageNode[]): number {
  const same = (x: MessageNode, y: MessageNode) => x.role === y.role && x.tokens.length === y.tokens.length && x.tokens.every((token, t) => token === y.tokens[t]);
  let shared = 0;
  while (shared < a.length && shared < b.length && same(a[shared]!, b[shared]!)) shared += 1;
  return shared;
}

/** The number of the last message among the first `count` nodes; null where only the system's is. */
export function lastNumber(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, count: number): number | null {
  return path(trajectory).slice(0, count).findLast(({ role }) => role !== 'template' && role !== 'system')?.id ?? null;
}

/** The messages of a conversation from the place on where it parts from another, without the template's pieces. */
export function ownMessages(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, shared: number): MessageNode[] {
  return path(trajectory).slice(shared).filter(({ role }) => role !== 'template');
}

/** Whether a conversation has come to an end that was scored or could have been. */
export const hasEnded = ({ termination }: Pick<Trajectory, 'termination'>) => termination !== 'aborted' && termination !== 'user_error';
