/** @file The messages of a conversation as chat templates read them. */
import type { ChatMessage } from '../local/api.ts';
import type { Message } from './endpoint/answer.ts';

/** Chat templates expect a text where the API of endpoints allows null, and arguments as an object. */
export function toChat(message: Message): ChatMessage {
  if (message.role === 'tool') return { role: 'tool', content: message.content, tool_call_id: message.tool_call_id };
  if (message.role !== 'assistant') return { role: message.role, content: message.content ?? '' };
  const { role, content, tool_calls } = message;
  const calls = tool_calls?.map(({ id, function: { name, arguments: text } }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.parse(text) as unknown },
  }));
  return { role, content: content ?? '', ...(calls && { tool_calls: calls }) };
}
