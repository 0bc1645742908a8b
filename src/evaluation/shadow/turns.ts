/** @file The recorded turns of a conversation, with what was heard before each of them. */
import { renderAssistant, QWEN } from '../../agent/chat-template.ts';
import type { AuditEvent } from '../../agent/violations.ts';
import { callFields } from '../../base/message-path.ts';
import type { ShadowAct, ShadowMessage } from '../../records/shadow.ts';
import type { ToolSchema } from '../../records/task.ts';
import type { MessageNode } from '../../records/trajectory.ts';

/** A conversation that any agent had. */
export interface RecordedConversation {
  id: string | number;
  /** The id of the task. Absent: not known. */
  task?: string;
  /** What the customer and the agent said, and the calls with their results, in order. */
  events: readonly AuditEvent[];
  /** The index of each event's message in the file. */
  messages: readonly number[];
  /** The texts of the system, with the indices of their messages. */
  system: readonly { text: string; message: number }[];
  /** Null: not known. */
  tools: readonly ToolSchema[] | null;
}

/** A turn of the recorded agent. */
export interface RecordedTurn {
  /** The index of its first message in the file. */
  message: number;
  act: ShadowAct;
  /** What was heard before, for the audit. */
  events: readonly AuditEvent[];
  /** The messages before, for the candidate. */
  heard: readonly MessageNode[];
}

/** The messages in order. The results of a message's calls follow it, in the order of the calls. */
export function messagesOf({ events, messages, system }: RecordedConversation): ShadowMessage[] {
  const found = new Map<number, ShadowMessage[]>();
  for (const { text, message } of system) found.set(message, [{ message, role: 'system', text }]);
  for (const [i, event] of events.entries()) {
    const message = messages[i]!;
    if (event.kind === 'user') found.set(message, [{ message, role: 'user', text: event.text }]);
    else {
      const own = found.get(message) ?? [{ message, role: 'assistant', text: '', calls: [] }];
      found.set(message, own);
      if (event.kind === 'tool') {
        const { call, result } = event;
        own[0]!.calls!.push(call);
        own.push({ message, role: 'tool', text: result.text, tool: call.name, failed: result.error });
      } else own[0]!.text = event.text;
    }
  }
  return [...found.entries()].sort(([a], [b]) => a - b).flatMap(([, own]) => own);
}

/**
 * The turns that a candidate can be asked for. Messages of the agent in a row are one turn, because no one answered between them. What
 * the agent says before the customer's first message is a greeting, and no turn.
 */
export function recordedTurns(conversation: RecordedConversation): RecordedTurn[] {
  const all = messagesOf(conversation);
  const turns: RecordedTurn[] = [];
  for (const [i, { message, role }] of all.entries()) {
    const before = all.slice(0, i);
    if (role !== 'assistant' || all[i - 1]?.role === 'assistant' || !before.some((one) => one.role === 'user')) continue;
    const rest = all.slice(i);
    const end = rest.findIndex((one) => one.role !== 'assistant');
    const own = end < 0 ? rest : rest.slice(0, end);
    const words = own.map(({ text }) => text).filter(Boolean);
    turns.push({
      message,
      act: { content: words.join('\n\n'), calls: own.flatMap(({ calls = [] }) => calls) },
      events: conversation.events.filter((_, at) => conversation.messages[at]! < message),
      heard: nodesOf(before),
    });
  }
  return turns;
}

/** The messages as nodes of a conversation that has no tokens. */
function nodesOf(messages: readonly ShadowMessage[]): MessageNode[] {
  let results = 0;
  return messages.map(({ role, text, calls = [], tool, failed }, id) => {
    const node = { id, parent: id === 0 ? null : id - 1, role, text, tokens: [], mask: [], logprobs: [] };
    if (role === 'tool') return { ...node, toolResult: { name: tool!, error: failed!, index: results++, changes: [], ms: 0 } };
    if (role !== 'assistant') return node;
    return { ...node, text: renderAssistant(QWEN, text, calls), content: text, ...callFields(calls) };
  });
}
