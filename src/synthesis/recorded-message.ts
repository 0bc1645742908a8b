/** @file A message of chat JSONL as the audit of recorded conversations reads it. */
import type { RecordedMessage } from '../agent/recorded-events.ts';
import { isObject } from '../base/json.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolCall } from '../records/task.ts';

export function recordedMessage({ role, content: text, tool_calls: made = [], tool_call_id: id, name }: ChatMessage): RecordedMessage {
  if (role === 'tool') return { role, text, answers: { id, name } };
  if (role !== 'assistant') return { role, text };
  const calls = made.map(({ id: own, function: call }) => ({ id: own, call: { name: call.name, arguments: objectOf(call.arguments) } }));
  return { role, text, calls };
}

/** Arguments that are no object are a finding of the schema rule. */
function objectOf(args: unknown): ToolCall['arguments'] {
  try {
    const value: unknown = typeof args === 'string' && args.trim() !== '' ? JSON.parse(args) : args;
    return isObject(value) ? (value as ToolCall['arguments']) : {};
  } catch {
    return {};
  }
}
