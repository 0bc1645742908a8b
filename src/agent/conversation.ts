/**
 * @file OpenAI-style conversations (chat JSONL) and their tokens for supervised fine-tuning.
 *
 * A line of the JSONL is `{"messages": […], "tools": […]?}`, or a bare list of messages. `tool_calls` arguments are objects
 * or JSON strings of objects; content may be null beside tool calls, or a list of text parts.
 */
import { GENERATION_PROMPT, IM_END, IM_START, renderAssistant, renderOpening, renderToolResponses, renderUser } from './chat-template.ts';
import type { Tokenizer } from './types.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  tool_calls?: { id?: string; type: 'function'; function: { name: string; arguments: Record<string, unknown> | string } }[];
  name?: string;
  tool_call_id?: string;
}

export interface Conversation {
  messages: ChatMessage[];
  /** OpenAI function schemas. */
  tools?: object[];
}

/** A field of the input is not what it should be; the message says where, what it is and what was expected. */
export class ConversationError extends Error {
  override name = 'ConversationError';
}

/** Empty lines are skipped. @throws ConversationError naming line, field and value. */
export function parseConversations(jsonl: string): Conversation[] {
  const conversations: Conversation[] = [];
  jsonl.split('\n').forEach((line, i) => {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new ConversationError(`line ${i + 1} is not JSON: ${(error as Error).message}`);
    }
    conversations.push(readConversation(value, `line ${i + 1}`));
  });
  if (conversations.length === 0) throw new ConversationError('no conversation found: expected one JSON object with "messages" a line');
  return conversations;
}

/** Checks a value and brings it to one form. `where` leads every message, e.g. `line 3`. */
export function readConversation(value: unknown, where = 'conversation'): Conversation {
  const { messages, tools } = Array.isArray(value) ? { messages: value as unknown, tools: undefined } : record(value, where);
  if (!Array.isArray(messages) || messages.length === 0) throw wrong(`${where}: messages`, messages, 'a list of at least one message');
  const checked = messages.map((message, i) => readMessage(message, `${where}: messages[${i}]`));
  if (tools === undefined || tools === null) return { messages: checked };
  if (!Array.isArray(tools)) throw wrong(`${where}: tools`, tools, 'a list of function schemas');
  return { messages: checked, tools: tools.map((tool, i) => record(tool, `${where}: tools[${i}]`)) };
}

export interface RenderedConversation {
  tokens: number[];
  /** 1 exactly on what the model would write: content, tool-call markup, and the `<|im_end|>` that closes its turn. */
  lossMask: number[];
}

/**
 * Tokens as a rollout would have seen them. Every tool call of a message is rendered. Thoughts (`<think>…</think>` at the
 * start of a content) are left out: the template is the non-thinking one.
 */
export function renderConversation(tokenizer: Tokenizer, conversation: Conversation): RenderedConversation {
  const rendered: RenderedConversation = { tokens: [], lossMask: [] };
  for (const { text, sampled } of renderPieces(conversation)) {
    const ids = tokenizer.encode(text);
    for (const id of ids) {
      rendered.tokens.push(id);
      rendered.lossMask.push(sampled ? 1 : 0);
    }
  }
  return rendered;
}

/** The conversation as strings, those that the model would write marked. */
export function renderPieces({ messages, tools = [] }: Conversation): { text: string; sampled: boolean }[] {
  const pieces: { text: string; sampled: boolean }[] = [];
  const given = (text: string) => pieces.push({ text, sampled: false });
  const leading = messages[0]?.role === 'system' ? messages[0] : undefined;
  given(renderOpening(leading ? leading.content : null, tools as Record<string, unknown>[]));
  for (let i = leading ? 1 : 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === 'user') given(renderUser(message.content));
    else if (message.role === 'system') given(`${IM_START}system\n${message.content}${IM_END}\n`);
    else if (message.role === 'tool') {
      const results = [message.content];
      while (messages[i + 1]?.role === 'tool') results.push(messages[++i]!.content);
      given(renderToolResponses(results));
    } else {
      const calls = (message.tool_calls ?? []).map((call) => call.function);
      given(GENERATION_PROMPT);
      pieces.push({ text: renderAssistant(withoutThoughts(message.content), calls) + IM_END, sampled: true });
      given('\n');
    }
  }
  return pieces.filter((piece) => piece.text !== '');
}

function withoutThoughts(content: string): string {
  const end = content.lastIndexOf('</think>');
  return end < 0 ? content : content.slice(end + '</think>'.length).replace(/^\n+/, '');
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
  for (const field of ['name', 'tool_call_id'] as const) {
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
  if (!Array.isArray(value)) throw wrong(where, value, mayBeEmpty ? 'a string, null or a list of text parts' : 'a string or a list of text parts');
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
    return { ...(typeof call.id === 'string' ? { id: call.id } : {}), type: 'function' as const, function: { name, arguments: readArguments(args, `${field}.arguments`) } };
  });
}

/** Objects stay objects and strings stay verbatim (the template renders them as they are), if they hold an object. */
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
  const shown = value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value));
  return new ConversationError(`${where} is ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}: expected ${expected}`);
}
