/** @file Turns the messages of a conversation from another tool into the nodes of a trajectory. */
import { QWEN, renderAssistant, TOOL_CALL_START } from '../agent/chat-template.ts';
import { parseTurn } from '../agent/tool-call.ts';
import { isObject, mapJson } from '../base/json.ts';
import { callFields, callsOf } from '../base/message-path.ts';
import { parseTolerant } from '../base/tolerant-json.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolCall } from '../records/task.ts';
import type { MessageNode } from '../records/trajectory.ts';

export type ReplayedCall = Pick<NonNullable<MessageNode['toolResult']>, 'index' | 'changes'>;

/**
 * Makes a node for each message. `starts[n]` is the last node of the first n messages.
 * @param failed the results of tools that are errors
 * @param replayed the places of results in the log of calls, and the rows that their calls changed
 */
export function nodesOf(
  messages: readonly ChatMessage[],
  failed: ReadonlySet<ChatMessage> = new Set(),
  replayed: ReadonlyMap<ChatMessage, ReplayedCall> = new Map(),
): { nodes: MessageNode[]; starts: number[] } {
  const nodes: MessageNode[] = [];
  const add = (node: Pick<MessageNode, 'role' | 'text'> & Partial<MessageNode>) =>
    nodes.push({ id: nodes.length, parent: nodes.length === 0 ? null : nodes.length - 1, tokens: [], mask: [], logprobs: [], ...node });
  const names = new Map<string, string>();
  let unanswered: string[] = [];
  let results = 0;
  for (const message of inOrderOfCalls(messages)) {
    const { role, content } = message;
    if (role === 'tool') {
      const name = message.name ?? names.get(message.tool_call_id ?? '') ?? unanswered[0];
      unanswered = unanswered.slice(1);
      add({
        role,
        text: content,
        ...(name !== undefined && {
          toolResult: { name, error: failed.has(message), ms: 0, ...(replayed.get(message) ?? { index: results++, changes: [] }) },
        }),
      });
      continue;
    }
    for (const { id, function: called } of message.tool_calls ?? []) if (id !== undefined) names.set(id, called.name);
    const node = role === 'assistant' ? turnOf(message) : { text: content };
    unanswered = callsOf(node).map(({ name }) => name);
    add({ role, ...node });
  }
  return { nodes, starts: [0, ...nodes.map(({ id }) => id)] };
}

/** The fields of an assistant's node. Calls are in `tool_calls`, or are markup in the text. */
function turnOf(message: ChatMessage): Pick<MessageNode, 'text'> & Partial<MessageNode> {
  const { content, tool_calls: given = [] } = message;
  const thoughts = message.reasoning_content ? `<think>\n${message.reasoning_content}\n</think>\n\n` : '';
  if (given.length === 0 && content.includes(TOOL_CALL_START)) {
    const { content: said, calls, error } = parseTurn(content, null, Infinity);
    return { text: thoughts + content, content: said, ...callFields(calls), ...(error !== undefined && { parseError: error }) };
  }
  const written = given.map(({ function: called }) => called);
  const calls = written.map(({ name, arguments: args }) => ({ name, arguments: typeof args === 'string' ? objectOf(args) : args }));
  const malformed = calls.find((call) => call.arguments === undefined);
  const parseError = malformed
    ? `the arguments of ${malformed.name} are not a JSON object`
    : given.find(({ parse_error }) => parse_error !== undefined)?.parse_error;
  return {
    text: thoughts + renderAssistant(QWEN, content, written),
    ...((given.length > 0 || thoughts) && { content }),
    ...(!malformed && callFields(calls as ToolCall[])),
    ...(parseError !== undefined && { parseError }),
  };
}

/** The object of a JSON text. Integers that a number cannot hold become texts. Undefined if the text has no object. */
function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value = mapJson(parseTolerant(text), storable);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function storable(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/** The messages with the results of each turn in the order of its calls. A trajectory links them by their order. */
function inOrderOfCalls(messages: readonly ChatMessage[]): ChatMessage[] {
  const ordered: ChatMessage[] = [];
  for (let i = 0; i < messages.length;) {
    const message = messages[i++]!;
    ordered.push(message);
    const ids = (message.tool_calls ?? []).map(({ id }) => id);
    const results: ChatMessage[] = [];
    while (message.role === 'assistant' && messages[i]?.role === 'tool') results.push(messages[i++]!);
    const places = results.map(({ tool_call_id: id }) => (id === undefined ? -1 : ids.indexOf(id)));
    const known = new Set(places).size === places.length && !places.includes(-1);
    ordered.push(...(known ? results.toSorted((a, b) => ids.indexOf(a.tool_call_id) - ids.indexOf(b.tool_call_id)) : results));
  }
  return ordered;
}
