/** @file Where a played conversation begins: at a message of a stored one, or anew with a task. */
import { path } from '../../agent/trajectory.ts';
import type { MessageNode, Trajectory } from '../../agent/types.ts';
import type { WorldRef } from '../worlds/types.ts';

/** Under this name branches stand where a run would. */
export const BRANCHES = 'branches';

export interface From {
  run: string;
  rollout: string;
  node: number;
}

/** Reads `run/rollout@node`; null for anything else. */
export function parseFrom(from: string): From | null {
  const found = /^([^/]+)\/(.+)@(\d{1,9})$/s.exec(from);
  return found && { run: found[1]!, rollout: found[2]!, node: Number(found[3]) };
}

export const writeFrom = ({ run, rollout, node }: From) => `${run}/${rollout}@${node}`;

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

/** The messages of a conversation from the place on where it parts from another, without the template's pieces. */
export function ownMessages(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, shared: number): MessageNode[] {
  return path(trajectory).slice(shared).filter(({ role }) => role !== 'template');
}

/** Whether a conversation has come to an end that was scored or could have been. */
export const hasEnded = ({ termination }: Pick<Trajectory, 'termination'>) => termination !== 'aborted' && termination !== 'user_error';
