/**
 * @file Reads OpenAI-style conversations: chat JSONL in TRL's conversational format.
 *
 * A line is `{"messages": […], "tools": […]?}`. Results of tau-bench have `traj` instead of `messages`. Arguments in
 * `tool_calls` are objects, or JSON strings of objects. `content` is a string, a list of text parts, or null in a message with
 * tool calls.
 */
import { InputError, parserReason, shown } from '../base/input-error.ts';
import type { ChatMessage, Conversation } from '../records/conversation.ts';

/** Thrown if a field of the input is wrong. The message names the field, its value and the expected value. */
class ConversationError extends InputError {
  override name = 'ConversationError';
}

/**
 * Reads JSONL or one JSON array of conversations. Empty lines are skipped.
 * @throws ConversationError that names the line or entry, the field and its value
 */
export function parseConversations(text: string): Conversation[] {
  const conversations = text.trimStart().startsWith('[')
    ? (parse(text, 'the file') as unknown[]).map((value, i) => readConversation(value, `entry ${i + 1}`))
    : text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [readConversation(parse(line, `line ${i + 1}`), `line ${i + 1}`)]));
  if (conversations.length === 0) throw new ConversationError('no conversation found: expected one JSON object with "messages" a line');
  return conversations;
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConversationError(`${where} is not JSON: ${parserReason(error)}`);
  }
}

/** Checks a value and normalises it. Error messages start with `where`, e.g. `line 3`. @throws ConversationError */
export function readConversation(value: unknown, where = 'conversation'): Conversation {
  const { messages: own, traj, tools } = record(value, where);
  const messages = own ?? traj;
  if (!Array.isArray(messages) || messages.length === 0) throw wrong(`${where}: messages`, messages, 'a list of at least one message');
  const checked = messages.map((message, i) => readMessage(message, `${where}: messages[${i}]`));
  if (tools === undefined || tools === null) return { messages: checked };
  if (!Array.isArray(tools)) throw wrong(`${where}: tools`, tools, 'a list of function schemas');
  return { messages: checked, tools: tools.map((tool, i) => record(tool, `${where}: tools[${i}]`)) };
}

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;

function readMessage(value: unknown, where: string): ChatMessage {
  const message = record(value, where);
  const role = ROLES.find((name) => name === message.role);
  if (!role) throw wrong(`${where}.role`, message.role, ROLES.map((name) => `"${name}"`).join(', '));
  const calls = readToolCalls(message.tool_calls, role, where);
  const content = readContent(message.content, calls.length > 0, `${where}.content`);
  const checked: ChatMessage = { role, content };
  if (calls.length > 0) checked.tool_calls = calls;
  for (const field of ['name', 'tool_call_id', 'reasoning_content'] as const) {
    const text = message[field];
    if (text === undefined || text === null) continue;
    if (typeof text !== 'string') throw wrong(`${where}.${field}`, text, 'a string');
    checked[field] = text;
  }
  return checked;
}

function readContent(value: unknown, mayBeEmpty: boolean, where: string): string {
  if (typeof value === 'string') return value;
  if ((value === null || value === undefined) && mayBeEmpty) return '';
  if (!Array.isArray(value))
    throw wrong(where, value, mayBeEmpty ? 'a string, null or a list of text parts' : 'a string or a list of text parts');
  return value
    .map((part, i) => {
      const { type, text } = record(part, `${where}[${i}]`);
      if (type !== 'text' || typeof text !== 'string') throw wrong(`${where}[${i}]`, part, '{"type": "text", "text": …}');
      return text;
    })
    .join('');
}

function readToolCalls(value: unknown, role: ChatMessage['role'], where: string): NonNullable<ChatMessage['tool_calls']> {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(`${where}.tool_calls`, value, 'a list of tool calls');
  if (value.length > 0 && role !== 'assistant') throw wrong(`${where}.tool_calls`, value, `no tool calls in a message of role "${role}"`);
  return value.map((item, i) => {
    const at = `${where}.tool_calls[${i}]`;
    const call = record(item, at);
    const wrapped = call.function !== undefined;
    const { name, arguments: args } = wrapped ? record(call.function, `${at}.function`) : call;
    const field = wrapped ? `${at}.function` : at;
    if (typeof name !== 'string' || name === '') throw wrong(`${field}.name`, name, 'the name of a tool');
    if (call.id !== undefined && call.id !== null && typeof call.id !== 'string') throw wrong(`${at}.id`, call.id, 'a string');
    return {
      ...(typeof call.id === 'string' ? { id: call.id } : {}),
      type: 'function' as const,
      function: { name, arguments: readArguments(args, `${field}.arguments`) },
    };
  });
}

/**
 * Reads arguments, which are an object or a JSON string of one. A string is returned unchanged, because the template renders
 * it unchanged.
 */
function readArguments(value: unknown, where: string): Record<string, unknown> | string {
  if (typeof value !== 'string') return record(value, where, 'an object, or a JSON string of one');
  try {
    record(JSON.parse(value), where);
  } catch {
    throw wrong(where, value, 'an object, or a JSON string of one');
  }
  return value;
}

function record(value: unknown, where: string, expected = 'an object'): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, value, expected);
  return value as Record<string, unknown>;
}

function wrong(where: string, value: unknown, expected: string): ConversationError {
  return new ConversationError(`${where} is ${shown(value)}: expected ${expected}`);
}
