/** @file Makes message nodes for the transcript from a stored conversation. They have no tokens, because no model sampled them. */
import type { DatasetConversation } from '../../records/dataset.ts';
import type { ToolCall } from '../../records/task.ts';
import type { MessageNode } from '../../records/trajectory.ts';

/** Each tool call of a message becomes a node of its own. The numbers of tool results equal those of the calls in the audit. */
export function transcriptNodes({ messages }: Pick<DatasetConversation, 'messages'>): MessageNode[] {
  const nodes: MessageNode[] = [];
  let results = 0;
  const add = (node: Pick<MessageNode, 'role' | 'text'> & Partial<MessageNode>) => {
    const id = nodes.length;
    nodes.push({ id, parent: id === 0 ? null : id - 1, tokens: [], mask: [], logprobs: [], ...node });
  };
  for (const { role, content, tool_calls, name } of messages) {
    if (role === 'tool') {
      const toolResult = { name: name ?? 'a tool', error: content.startsWith('Error'), index: results++, changes: [], ms: 0 };
      add({ role, text: content, toolResult });
      continue;
    }
    const calls = tool_calls ?? [];
    const [first, ...others] = calls.map(({ function: call }) => ({ name: call.name, arguments: argumentsOf(call.arguments) }));
    add({ role, text: content, content, ...(first && { toolCall: first }) });
    for (const toolCall of others) add({ role, text: '', content: '', toolCall });
  }
  return nodes;
}

/** Arguments can be a string of JSON. When the file was read, it was checked that the string holds a JSON object. */
const argumentsOf = (args: Record<string, unknown> | string): ToolCall['arguments'] =>
  typeof args === 'string' ? (JSON.parse(args) as ToolCall['arguments']) : (args as ToolCall['arguments']);
