/** @file Reads conversations in OpenAI's format for the audit: JSONL, a conversation with `id` and `messages` a line. */
import { isObject } from '../base/json.ts';
import { parserReason, shown } from '../base/input-error.ts';
import { type RecordedCall, recordedEvents, type RecordedMessage } from '../agent/recorded-events.ts';
import type { AuditEvent } from '../agent/violations.ts';
import { ownOfTask } from '../domains/registry.ts';
import type { Json } from '../records/json.ts';
import type { ToolSchema } from '../records/task.ts';
import { UsageError } from './errors.ts';

export interface AuditedConversation {
  id: string | number;
  /** The id of the task, from `task_id`. */
  task?: string;
  events: AuditEvent[];
  /** The index of each event's message in `messages`. */
  messages: number[];
  /** Null if the line has no `tools`. */
  tools: ToolSchema[] | null;
  /** The texts of the system's messages, joined. Null if there are none. */
  policy: string | null;
  /** The same texts with the indices of their messages. */
  system: { text: string; message: number }[];
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/**
 * @param domain whose tools the agent called
 * @param isWrite the tools that change data: where no database is known, a call of such a tool without an error is a write
 * @throws UsageError naming line, field, value and what was expected
 */
export function readConversations(file: string, text: string, domain: string, isWrite: (tool: string) => boolean): AuditedConversation[] {
  const lines = new Map<string, number>();
  const found = text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const fail = (field: string, value: unknown, expected: string): never => {
      throw new UsageError(`${file}: line ${i + 1}: ${field} is ${shown(value)}: expected ${expected}`);
    };
    let row: unknown;
    try {
      row = JSON.parse(line.replace(/^\uFEFF/, ''));
    } catch (error) {
      throw new UsageError(`${file}: line ${i + 1}: it is not JSON (${parserReason(error)}): expected an object with id and messages`);
    }
    if (!isObject(row)) return fail('the line', row, 'an object with id and messages');
    const { id } = row;
    if ((typeof id !== 'string' || id === '') && !Number.isSafeInteger(id)) return fail('id', id, 'a text or a whole number');
    const before = lines.get(String(id));
    if (before !== undefined) return fail('id', id, `another id than in line ${before}`);
    lines.set(String(id), i + 1);
    const { task_id: task } = row;
    for (const [field, value] of Object.entries({ id, task_id: task, domain: row.domain })) {
      const own = typeof value === 'string' && (ownOfTask(value) ?? null);
      if (own && own !== domain) fail(field, value, `--world FILE.json with the scenario ${own}, not the domain ${domain}`);
    }
    const known = typeof task === 'string' || typeof task === 'number' ? { task: String(task) } : {};
    return [{ id: id as string | number, ...known, tools: readTools(row.tools, fail), ...readMessages(row.messages, isWrite, fail) }];
  });
  if (found.length === 0) throw new UsageError(`${file}: it has no conversation: expected an object with id and messages in each line`);
  return found;
}

type Fail = (field: string, value: unknown, expected: string) => never;

function readTools(tools: unknown, fail: Fail): ToolSchema[] | null {
  if (tools === undefined || tools === null) return null;
  const isTool = (tool: unknown) => isObject(tool) && isObject(tool.function) && typeof tool.function.name === 'string';
  return Array.isArray(tools) && tools.every(isTool) ? (tools as ToolSchema[]) : fail('tools', tools, 'a list of function schemas');
}

function readMessages(
  messages: unknown,
  isWrite: (tool: string) => boolean,
  fail: Fail,
): Omit<AuditedConversation, 'id' | 'task' | 'tools'> {
  if (!Array.isArray(messages)) return fail('messages', messages, 'a list of messages');
  const system: AuditedConversation['system'] = [];
  const recorded = messages.map((message: unknown, m): RecordedMessage => {
    const field = `messages[${m}]`;
    if (!isObject(message)) return fail(field, message, 'an object with role and content');
    const { role } = message;
    if (typeof role !== 'string' || !ROLES.includes(role)) return fail(`${field}.role`, role, `one of ${ROLES.join(', ')}`);
    const text = readContent(message.content, `${field}.content`, fail);
    if (role === 'tool' || role === 'function') return { role: 'tool', text, answers: { id: message.tool_call_id, name: message.name } };
    if (role === 'system' || role === 'developer') system.push({ text, message: m });
    if (role === 'assistant') return { role, text, calls: readCalls(message.tool_calls, `${field}.tool_calls`, fail) };
    return { role: role === 'user' ? role : 'system', text };
  });
  const { strays, events, messages: places } = recordedEvents(recorded, isWrite);
  if (strays[0] !== undefined) {
    const { text, answers: { id, name } = {} } = recorded[strays[0]]!;
    return fail(`messages[${strays[0]}]`, id ?? name ?? text, 'the result of a call in the assistant message before');
  }
  return {
    events,
    messages: places,
    policy: system.length > 0 ? system.map(({ text }) => text).join('\n\n') : null,
    system,
  };
}

function readContent(content: unknown, field: string, fail: Fail): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return fail(field, content, 'a text, a list of text parts, or null');
  return content
    .map((part: unknown, p) => {
      if (typeof part === 'string') return part;
      if (!isObject(part)) return fail(`${field}[${p}]`, part, 'a part with a text');
      return typeof part.text === 'string' ? part.text : '';
    })
    .join('\n');
}

function readCalls(calls: unknown, field: string, fail: Fail): RecordedCall[] {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) return fail(field, calls, 'a list of calls');
  return calls.map((entry: unknown, c) => {
    const call = isObject(entry) && isObject(entry.function) ? entry.function : entry;
    const name = isObject(call) ? call.name : undefined;
    if (typeof name !== 'string') return fail(`${field}[${c}].function.name`, name, "a tool's name");
    const given = (call as { arguments?: unknown }).arguments;
    const args = typeof given === 'string' ? parsed(given) : (given ?? {});
    if (!isObject(args)) return fail(`${field}[${c}].function.arguments`, given, 'an object, or an object as JSON text');
    const { id } = entry as { id?: unknown };
    return { id: typeof id === 'string' ? id : undefined, call: { name, arguments: args as Record<string, Json> } };
  });
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
