/** @file Shows a model the right conversation, and asks for its next call before each right call. */
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolCall } from '../records/task.ts';
import type { Player } from './players.ts';

/** What the model called where a right call comes next. Null: it called nothing, or its call could not be read. */
export interface NextCall {
  right: ToolCall;
  made: ToolCall | null;
}

/**
 * Plays the right calls of each turn of the user, each in a message of its own, and then a few words. The model is asked before each of
 * them.
 * @param turns the right calls after each message of the user
 * @param heard gets what the model would have called
 */
export function teacher(turns: readonly (readonly ToolCall[])[], heard: (next: NextCall) => void): Player {
  const next = (messages: readonly ChatMessage[]): ToolCall | undefined => {
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const turn = messages.filter(({ role }) => role === 'user').length - 1;
    const made = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
    return turns[turn]?.[made];
  };
  return {
    teaches: true,
    act: (messages) => (next(messages) ? undefined : { say: 'Done.' }),
    instead([made = null], messages) {
      const right = next(messages)!;
      heard({ right, made });
      return { call: right };
    },
  };
}
