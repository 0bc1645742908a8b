/** @file Conversations that a tau2 task begins in the midst of (`message_history`), as each side has seen them. */
import type { Json, Requestor } from '../types.ts';

export interface PastMessage {
  role: 'assistant' | 'user' | 'tool';
  /** Of a tool's answer: the call's id. */
  id?: string;
  content: string;
  calls: { id: string; name: string; arguments: Record<string, Json> }[];
}

/**
 * The messages that `side` has seen: neither side sees the calls of the other, or their answers.
 * @throws when the history does not end with words of the agent, the one ending that episodes go on from
 */
export function historyFor(side: Requestor, messages: readonly Json[]): PastMessage[] {
  let caller = 'assistant';
  const seen: PastMessage[] = [];
  for (const message of messages as unknown as { role: PastMessage['role']; id?: string; content?: string | null; tool_calls?: PastMessage['calls'] | null }[]) {
    const { role, id, content, tool_calls } = message;
    const calls = tool_calls ?? [];
    if (calls.length) caller = role;
    if ((calls.length || role === 'tool') && caller !== side) continue;
    seen.push({ role, ...(id !== undefined && { id }), content: content ?? '', calls });
  }
  const last = seen.at(-1);
  if (!last || last.role !== 'assistant' || last.calls.length) throw new Error('message_history: expected it to end with words of the agent');
  return seen;
}
