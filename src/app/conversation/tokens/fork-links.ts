/** @file Links of the inspector to the page where the visitor can continue a conversation. */
import { forkAt, lastFork, writeFrom, writeToken } from '../../branches/play-origin.ts';
import { href } from '../../routes/routes.ts';
import type { Span } from './sequence.ts';
import type { Subject } from './subject.ts';

type Place = Pick<Subject, 'place' | 'trajectory'>;

/** A link that continues the conversation from a message, or from the last message of `as` if `message` is null. */
export function forkLink(subject: Place, message: number | null, as: 'user' | 'agent'): string {
  const { trajectory } = subject;
  const node = (message === null ? lastFork(trajectory, as) : forkAt(trajectory, message, as)) ?? message ?? trajectory.leaf;
  return playLink(subject, node, { as });
}

/** A link that plays the message of `span` again: it keeps the tokens before `position` and continues with `token`. */
export const alternativeLink = (subject: Place, { node, start }: Span, position: number, token: number): string =>
  playLink(subject, node.id, { token: writeToken({ index: position - start, id: token }) });

function playLink({ place, trajectory: { task, id } }: Place, node: number, query: Record<string, string>): string {
  return href({ name: 'play', domain: task.domain, task: task.id }, { from: writeFrom({ place, id, node }), ...query });
}

/** Opens an address. Returns false if `address` is undefined. */
export function visit(address: string | undefined): boolean {
  if (address) location.hash = address;
  return Boolean(address);
}
