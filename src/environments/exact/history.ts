/** @file Conversations that a tau2 task begins in the midst of (`message_history`): made again, and as each side has seen them. */
import { canonicalJson } from '../json.ts';
import type { Json } from '../types.ts';
import type { ExactCall, Requestor } from './types.ts';

interface HistoryMessage {
  role: 'assistant' | 'user' | 'tool';
  /** Of a tool's answer: the call's id. */
  id?: string;
  content?: string | null;
  tool_calls?: (ExactCall & { id: string })[] | null;
}

export const historyMessages = (messages: readonly Json[]) => messages as unknown as readonly HistoryMessage[];

/** The calls of a message: its speaker's, where they don't say whose. */
export function callsIn({ role, tool_calls }: HistoryMessage): { id: string; call: Required<ExactCall> }[] {
  return (tool_calls ?? []).map(({ id, name, arguments: args, requestor = role === 'user' ? 'user' : 'assistant' }) => ({ id, call: { name, arguments: args, requestor } }));
}

/** Makes those calls again which change something; they must answer as recorded. */
export function replayHistory(messages: readonly Json[], { mutates, run }: { mutates: (tool: string, requestor: Requestor) => boolean; run: (call: ExactCall) => { text: string } }): void {
  const queue = [...historyMessages(messages)];
  for (let message; (message = queue.shift()); ) {
    for (const { id, call } of callsIn(message)) {
      const answer = queue.shift();
      if (answer?.role !== 'tool' || answer.id !== id) throw new Error(`message_history: the call '${id}' of ${call.name} is not followed by its answer`);
      if (!mutates(call.name, call.requestor)) continue;
      const { text } = run(call);
      if (contentOf(text) !== contentOf(answer.content ?? 'null')) throw new Error(`message_history: ${call.name} answered '${text}', recorded is '${answer.content}'`);
    }
  }
}

/** Contents compare as the JSON they hold, or as texts. */
function contentOf(content: string): string {
  try {
    return canonicalJson(JSON.parse(content));
  } catch {
    return canonicalJson(content);
  }
}

export interface PastMessage {
  role: HistoryMessage['role'];
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
  for (const { role, id, content, tool_calls } of historyMessages(messages)) {
    const calls = tool_calls ?? [];
    if (calls.length) caller = role;
    if ((calls.length || role === 'tool') && caller !== side) continue;
    seen.push({ role, ...(id !== undefined && { id }), content: content ?? '', calls });
  }
  const last = seen.at(-1);
  if (!last || last.role !== 'assistant' || last.calls.length) throw new Error('message_history: expected it to end with words of the agent');
  return seen;
}
