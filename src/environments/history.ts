/**
 * @file The messages with which a task of tau2-bench begins (`message_history`): runs their calls, and finds the messages that
 * each side has seen.
 */
import type { ToolCall } from '../records/task.ts';
import { canonicalJson } from '../base/json.ts';
import type { Requestor } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';

interface HistoryMessage {
  role: 'assistant' | 'user' | 'tool';
  /** The id of the call. Only for the result of a tool. */
  id?: string;
  content?: string | null;
  tool_calls?: (ToolCall & { id: string })[] | null;
}

export const historyMessages = (messages: readonly Json[]) => messages as unknown as readonly HistoryMessage[];

/** The calls of a message. A call without a requestor belongs to the role of the message. */
export function callsIn({ role, tool_calls }: HistoryMessage): { id: string; call: Required<Omit<ToolCall, 'exact' | 'message'>> }[] {
  return (tool_calls ?? []).map(({ id, name, arguments: args, requestor = role === 'user' ? 'user' : 'assistant' }) => ({
    id,
    call: { name, arguments: args, requestor },
  }));
}

/** Runs those calls of the history that change the database. @throws if a result differs from the recorded result */
export function replayHistory(
  messages: readonly Json[],
  { mutates, run }: { mutates: (tool: string, requestor: Requestor) => boolean; run: (call: ToolCall) => { text: string } },
): void {
  const queue = [...historyMessages(messages)];
  for (let message; (message = queue.shift());) {
    for (const { id, call } of callsIn(message)) {
      const answer = queue.shift();
      if (answer?.role !== 'tool' || answer.id !== id)
        throw new Error(`message_history: the call '${id}' of ${call.name} is not followed by its answer`);
      if (!mutates(call.name, call.requestor)) continue;
      const { text } = run(call);
      if (contentOf(text) !== contentOf(answer.content ?? 'null'))
        throw new Error(`message_history: ${call.name} answered '${text}', recorded is '${answer.content}'`);
    }
  }
}

/** Converts a content to a form that can be compared: to canonical JSON, or to a text if it is not JSON. */
function contentOf(content: string): string {
  try {
    return canonicalJson(JSON.parse(content));
  } catch {
    return canonicalJson(content);
  }
}

export interface PastMessage {
  role: HistoryMessage['role'];
  /** The id of the call. Only for the result of a tool. */
  id?: string;
  content: string;
  calls: { id: string; name: string; arguments: Record<string, Json> }[];
}

/**
 * The messages that `side` has seen. Neither side sees the calls of the other side or their results.
 * @throws if the history does not end with a text of the agent, because an episode can only continue from there
 */
export function historyFor(side: Requestor, messages: readonly Json[]): PastMessage[] {
  let caller = 'assistant';
  const seen: PastMessage[] = [];
  for (const { role, id, content, tool_calls } of historyMessages(messages)) {
    const calls = tool_calls ?? [];
    if (calls.length) caller = role;
    if ((calls.length || role === 'tool') && caller !== side) continue;
    seen.push({ role, ...(id !== undefined && { id }), content: content ?? '', calls });
  }
  const last = seen.at(-1);
  if (!last || last.role !== 'assistant' || last.calls.length)
    throw new Error('message_history: expected a text of the agent as the last message');
  return seen;
}
