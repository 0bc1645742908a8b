/** @file Who plays the agent: the model alone, the model with a guard, or an expert. */
import { TIMEOUT } from '../environments/faults.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolCall } from '../records/task.ts';
import type { MessageNode } from '../records/trajectory.ts';
import type { Act, Expert } from './acts.ts';
import { isConfirmation } from './answers.ts';

/** Plays beside the model in one episode. Both methods get the conversation so far, without the system message. */
export interface Player {
  /** An act to play instead of asking the model. Undefined asks the model. */
  act?(messages: readonly ChatMessage[]): Act | undefined;
  /** An act to play instead of the turn that the model sampled; null keeps the model's turn. */
  instead?(calls: readonly ToolCall[], messages: readonly ChatMessage[]): Act | null;
  /** True if `instead` replaces each turn, also one that is longer than allowed. */
  teaches?: true;
}

/** The question that asks for a yes to a write; null if the tool writes nothing. A domain with writes has one (`DomainModule.proposal`). */
export type Proposal = (call: ToolCall) => string | null;

export const expertPlayer = (expert: Expert): Player => ({ act: (messages) => expert.act(messages) });

/** If the model writes without a yes to exactly this write, the agent asks for the yes instead. */
export const consentGuard = (proposal: Proposal): Player => ({
  instead([call], messages) {
    const question = call && proposal(call);
    return question == null || wasConfirmed(question, messages) ? null : { say: question };
  },
});

/** Whether the agent asked this question last time with a yes as the answer. */
function wasConfirmed(question: string, messages: readonly ChatMessage[]): boolean {
  const asked = messages.findLastIndex(({ role, content }) => role === 'assistant' && content === question);
  return asked >= 0 && messages[asked + 1]?.role === 'user' && isConfirmation(messages[asked + 1]!.content);
}

/** If a call timed out, the agent calls the tool again. */
export const retryGuard: Player = {
  instead(calls, messages) {
    const last = messages.at(-1);
    const timedOut = last?.role === 'tool' && last.content === TIMEOUT;
    const call = messages.findLast(({ role }) => role === 'assistant')?.tool_calls?.[0]?.function;
    return timedOut && call && calls.length === 0 ? { call: call as ToolCall } : null;
  },
};

/** Several guards: the first guard with an act decides. */
export const guards = (...all: readonly Player[]): Player => ({
  instead: (calls, messages) => all.reduce<Act | null>((act, guard) => act ?? guard.instead!(calls, messages), null),
});

/** The messages without the tokens of the chat template and without the ids of calls. */
export const messagesOf = (nodes: readonly MessageNode[]): ChatMessage[] =>
  nodes.flatMap(({ role, text, content = text, toolCall, toolResult }): ChatMessage[] => {
    if (role === 'template') return [];
    if (role === 'tool') return [{ role, ...(toolResult && { name: toolResult.name }), content: text }];
    if (role !== 'assistant') return [{ role, content: text }];
    return [{ role, content, ...(toolCall && { tool_calls: [{ type: 'function', function: toolCall }] }) }];
  });

/** The conversation as a player sees it. */
export const heardBy = (nodes: readonly MessageNode[]): ChatMessage[] => messagesOf(nodes).filter(({ role }) => role !== 'system');
