/**
 * @file Reads OpenAI-style conversations: chat JSONL in TRL's conversational format, with the deviations of other programs.
 *
 * A row is `{"messages": […], "tools": […]?}`. Rows of TRL may have `prompt` and `completion` instead, results of tau-bench `traj`,
 * LLaMA-Factory's ShareGPT `conversations`. A list may be a text in JSON. Content is a text, a list of parts, or null. Arguments are an object, or its JSON text.
 */
import { InputError, parserReason } from '../base/input-error.ts';
import { isJsonText, isObject } from '../base/json.ts';
import { firstReasons, type JsonRow, readJsonFile, RowNotes } from '../base/json-rows.ts';
import type { ChatMessage, Conversation } from '../records/conversation.ts';
import { ConversationError, isPreference, listOf, parsed, rowMessages, rowTools, toolColumn, wrong } from './conversation-row.ts';
import { readContent } from './message-content.ts';
import { withoutNulls, withoutPadding } from './null-padding.ts';
import { toPythonJson } from './python-json.ts';

/** A line about something that was read differently from what the file says. */
export type Note = (line: string) => void;

export interface ReadOptions {
  note?: Note;
  /** Keeps the text of arguments that are not JSON, because an agent may write such calls. By default it is an error. */
  keepMalformed?: boolean;
  /** What stands between the parts of a content (`readContent`). */
  separator?: string;
}

/**
 * Reads the rows of a file, or of its text, with `read`. Rows that cannot be read are left out, and `note` counts them and names the first of them.
 * @throws InputError with the first reasons if no row can be read
 */
export function readEachRow<T>(file: string | readonly JsonRow[], read: (value: unknown, where: string, note: Note) => T, note: Note): T[] {
  const problems: string[] = [];
  const notes = new RowNotes();
  const rows = typeof file === 'string' ? readJsonFile(file).rows : file;
  const found = rows.flatMap(({ where, value, problem }) => {
    try {
      if (problem !== undefined) throw new ConversationError(`${where}: ${problem}`);
      return [read(value, where, (line) => notes.add(line, where))];
    } catch (error) {
      if (!(error instanceof InputError || error instanceof RangeError)) throw error;
      problems.push(error instanceof RangeError ? `${where}: ${parserReason(error)}` : error.message);
      return [];
    }
  });
  const first = firstReasons(problems);
  if (rows.length === 0) throw new ConversationError('the file has no conversation: expected one JSON object with "messages" a line');
  if (found.length === 0) throw new ConversationError(rows.length === 1 ? first : `none of ${rows.length} rows can be read: ${first}`);
  if (problems.length > 0) note(`${problems.length} of ${rows.length} rows cannot be read and are left out: ${first}`);
  for (const [line, { count, first: place }] of notes.lines) note(`${line} (${count} ×, first in ${place})`);
  return found;
}

/** Whether a row is labelled as spoilt on purpose. Nobody learns from it by accident, so any label counts. */
export const isNearMiss = (row: unknown): boolean =>
  isObject(row) && row.near_miss !== undefined && row.near_miss !== null && row.near_miss !== false;

/**
 * Reads conversations to train on: JSONL, or one JSON list. Near-misses are left out, and noted.
 * @throws as `readEachRow`, or if all conversations are near-misses
 */
export function parseConversations(text: string, note: Note = () => {}): Conversation[] {
  const read = (value: unknown, where: string, own: Note) => (isNearMiss(value) ? null : readConversation(value, where, { note: own }));
  const rows = readEachRow(text, read, note);
  const kept = rows.filter((row) => row !== null);
  const left = `near_miss marks ${rows.length - kept.length} of ${rows.length} conversations as spoilt on purpose`;
  if (kept.length === 0) throw new ConversationError(`${left}: expected others, or rows without this field to train on them all the same`);
  if (kept.length < rows.length) note(`${left}. They are left out; rows without this field are trained on`);
  return kept;
}

/** Checks a value and normalises it. Error messages start with `where`, e.g. `line 3`. @throws ConversationError */
export function readConversation(value: unknown, where = 'conversation', options: ReadOptions = {}): Conversation {
  const row = record(value, where);
  const pair = isPreference(row);
  if (pair) options.note?.('the rejected answers of pairs are left out');
  return checkedConversation(row, rowMessages(row, where, pair ? 'chosen' : 'completion'), where, options);
}

/** Checks the messages and the tools of a row, as `rowMessages` gives them. @throws ConversationError */
export function checkedConversation(
  row: Record<string, unknown>,
  messages: readonly unknown[] | undefined,
  where: string,
  options: ReadOptions,
): Conversation {
  if (!messages) {
    const column = row.conversations === undefined ? 'messages' : 'conversations';
    throw wrong(`${where}: ${column}`, row[column] ?? row.traj, 'a list of at least one message');
  }
  const tools = readTools(row, where);
  const [first] = messages;
  if (typeof row.system === 'string' && row.system !== '' && isObject(first) && first.role === 'system' && first.content !== row.system)
    options.note?.('the column system is left out, because the messages begin with one of the system');
  return {
    messages: messages.map((message, i) => readMessage(message, `${where}: messages[${i}]`, { ...options, tools })),
    ...(tools && { tools }),
  };
}

function readTools(row: Record<string, unknown>, where: string): Record<string, unknown>[] | undefined {
  const column = toolColumn(row);
  const value = row[column];
  if (value === undefined || value === null || value === '') return undefined;
  const list = rowTools(row);
  if (!list) throw wrong(`${where}: ${column}`, value, 'a list of function schemas');
  return list.map((tool, i) => withoutNulls(record(tool, `${where}: ${column}[${i}]`)));
}

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;
const OTHER_NAMES: Record<string, ChatMessage['role']> = { developer: 'system', function: 'tool' };

type MessageOptions = ReadOptions & { tools: Record<string, unknown>[] | undefined };

function readMessage(value: unknown, where: string, options: MessageOptions): ChatMessage {
  const message = record(value, where);
  const named = message.role;
  const role = ROLES.find((name) => name === named) ?? (typeof named === 'string' ? OTHER_NAMES[named] : undefined);
  if (!role) throw wrong(`${where}.role`, named, ROLES.map((name) => `"${name}"`).join(', '));
  const { text, thoughts } = readContent(message.content, options);
  const calls = readToolCalls(message, role, where, options);
  for (const [field, own] of Object.entries(message))
    if (!READ.includes(field) && isGiven(own)) options.note?.(`the field ${field.slice(0, 40)} of messages is left out`);
  const checked: ChatMessage = { role, content: text };
  if (calls.length > 0) checked.tool_calls = calls;
  const own = [message.reasoning_content, message.reasoning, message.thinking].find((field) => typeof field === 'string' && field !== '');
  const reasoning = (own as string | undefined) ?? thoughts;
  if (reasoning !== '') checked.reasoning_content = reasoning;
  if (typeof message.name === 'string') checked.name = message.name;
  const id = textId(message.tool_call_id);
  if (id !== undefined) checked.tool_call_id = id;
  return checked;
}

/** The fields of a message that are read. */
const READ = 'role content tool_calls function_call name tool_call_id reasoning_content reasoning thinking'.split(' ');
const isGiven = (value: unknown) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

const textId = (id: unknown): string | undefined =>
  typeof id === 'string' ? id : typeof id === 'number' || typeof id === 'bigint' ? String(id) : undefined;

type Calls = NonNullable<ChatMessage['tool_calls']>;

function readToolCalls(message: Record<string, unknown>, role: ChatMessage['role'], where: string, options: MessageOptions): Calls {
  const value = message.tool_calls ?? (isObject(message.function_call) ? [message.function_call] : undefined);
  if (value === undefined || value === null || value === '') return [];
  const calls = listOf(value);
  if (!calls) throw wrong(`${where}.tool_calls`, value, 'a list of tool calls');
  if (calls.length > 0 && role !== 'assistant') throw wrong(`${where}.tool_calls`, calls, `no tool calls in a message of role "${role}"`);
  return calls.map((item, i) => {
    const at = `${where}.tool_calls[${i}]`;
    const call = record(typeof item === 'string' ? parsed(item) : item, at);
    const wrapped = isObject(call.function);
    const { name, arguments: args } = wrapped ? (call.function as Record<string, unknown>) : call;
    const field = wrapped ? `${at}.function` : at;
    if (typeof name !== 'string' || name === '') throw wrong(`${field}.name`, name, 'the name of a tool');
    const id = textId(call.id);
    return {
      ...(id !== undefined && { id }),
      type: 'function' as const,
      function: { name, arguments: readArguments(args, name, `${field}.arguments`, options) },
      ...(typeof call.parse_error === 'string' && { parse_error: call.parse_error }),
    };
  });
}

/**
 * Reads the arguments of a call. A JSON text is returned unchanged, because the template renders it unchanged. An object loses the nulls that
 * pad it (`withoutPadding`). An object with an integer that a number cannot hold becomes a JSON text.
 */
function readArguments(
  value: unknown,
  name: string,
  where: string,
  { tools, note, keepMalformed }: MessageOptions,
): Record<string, unknown> | string {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') {
    const given = record(value, where, 'an object, or a JSON string of one');
    const own = tools?.map((tool) => (isObject(tool.function) ? tool.function : tool)).find((tool) => tool.name === name);
    const args = withoutPadding(given, own?.parameters);
    if (args !== given) note?.('nulls that pad the arguments of a call are left out');
    return hasBigInt(args) ? toPythonJson(args) : args;
  }
  if (value.trim() === '') return {};
  const inner = parsed(value);
  const object = typeof inner === 'string' ? parsed(inner) : inner;
  if (object === null) return {};
  if (isObject(object)) return object === inner && isJsonText(value) ? value : toPythonJson(object);
  if (keepMalformed) return value;
  throw wrong(where, value, 'an object, or a JSON string of one');
}

const hasBigInt = (value: unknown): boolean =>
  typeof value === 'bigint' || (typeof value === 'object' && value !== null && Object.values(value).some(hasBigInt));

export function record(value: unknown, where: string, expected = 'an object'): Record<string, unknown> {
  if (!isObject(value)) throw wrong(where, value, expected);
  return value;
}
