/** @file What was before the first turn that an episode plays: messages that the task starts with, and calls of a stored conversation. */
import { historyFor } from '../environments/history.ts';
import type { ToolResult } from '../environments/types.ts';
import type { Json } from '../records/json.ts';
import type { ToolCall } from '../records/task.ts';
import { renderAssistant } from './chat-template.ts';
import type { PrefixState } from './prefix.ts';
import type { Transcript } from './transcript.ts';

/** Appends the messages that the task starts with, as far as the agent has seen them. */
export function appendHistory(transcript: Transcript, history: readonly Json[]): void {
  for (const { role, content, calls } of historyFor('assistant', history)) {
    const [call] = calls;
    if (role === 'user') transcript.user(content);
    else if (role === 'tool') transcript.tool(content);
    else
      transcript.agent(content, renderAssistant(content, calls), {
        content,
        ...(call && { toolCall: { name: call.name, arguments: call.arguments } }),
      });
  }
}

/** Makes the calls of a stored conversation again. @throws if a result has another text than the stored one */
export async function repeatCalls(calls: PrefixState['calls'], make: (call: ToolCall) => Promise<ToolResult>): Promise<void> {
  for (const [i, { call, text }] of calls.entries()) {
    const result = await make(call);
    if (result.text !== text)
      throw new Error(
        `tool call ${i + 1} (${call.name}) of the stored conversation has another result in this world: the task or its tools have changed since`,
      );
  }
}
