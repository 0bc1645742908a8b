/**
 * @file The forms in which programs write a conversation as a row, as far as they are not OpenAI's: LLaMA-Factory's ShareGPT, the lists of
 * tools of MUA-RL's dataset, and pairs of a better and a worse answer. A row becomes one with OpenAI's fields, which are checked later.
 */
import { InputError, shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { parseTolerant } from '../base/tolerant-json.ts';

type Row = Record<string, unknown>;

/** Thrown if a field of the input is wrong. The message names the field, its value and the expected value. */
export class ConversationError extends InputError {
  override name = 'ConversationError';
}

export const wrong = (where: string, value: unknown, expected: string): ConversationError =>
  new ConversationError(`${where} is ${shown(value)}: expected ${expected}`);

/** A list, or the list that a text in JSON holds. */
export function listOf(value: unknown): unknown[] | undefined {
  const list = typeof value === 'string' && value.trimStart().startsWith('[') ? parsed(value) : value;
  return Array.isArray(list) ? list : undefined;
}

/** The value of a text. Undefined if it has none. */
export function parsed(text: string): unknown {
  try {
    return parseTolerant(text);
  } catch {
    return undefined;
  }
}

/** The arguments of a call as an object. A text that is no object stays a text. */
export function asObject(given: Row | string): Row | string {
  const value = typeof given === 'string' ? parsed(given) : given;
  return isObject(value) ? value : given;
}

/** Whether the row is a pair: it has a better and a worse answer, and no list of messages. */
export const isPreference = ({ messages, traj, chosen, rejected }: Row): boolean =>
  [chosen, rejected].every((side) => isObject(side) || listOf(side) !== undefined) && !listOf(messages) && !listOf(traj);

/** Whether the row is a conversation to train on, and not the record of a run. */
export const isConversationRow = (row: Row): boolean =>
  [row.messages, row.conversations, row.completion].some((list) => listOf(list)?.length) || isPreference(row);

/** The column that a row's tools come from. OpenAI called them functions before. */
export const toolColumn = ({ tools, functions }: Row): 'tools' | 'functions' => (!tools && functions ? 'functions' : 'tools');

/** The columns that a row's messages and tools come from. */
export function messageColumns(row: Row): string[] {
  const own = ['messages', 'traj'].find((name) => listOf(row[name])?.length) ?? (listOf(row.conversations) ? 'conversations' : 'prompt');
  if (isPreference(row)) return ['prompt', 'conversations', 'chosen', 'rejected', 'system', toolColumn(row)];
  return [own, ...(own === 'prompt' ? ['completion'] : []), 'system', toolColumn(row)];
}

/**
 * The messages of a row, not checked yet. Undefined if it has none.
 * @param answer the column of the answer, after `prompt`
 */
export function rowMessages(row: Row, where: string, answer: 'completion' | 'chosen' | 'rejected' = 'completion'): unknown[] | undefined {
  const own = answer === 'completion' ? (listOf(row.messages) ?? listOf(row.traj)) : undefined;
  const talk = listOf(row.conversations);
  const asked = talk ? readShareGpt(talk, `${where}: conversations`) : listOf(row.prompt);
  const said = isObject(row[answer]) ? [row[answer]] : listOf(row[answer]);
  const answered = said && readShareGpt(said, `${where}: ${answer}`);
  // A pair without a prompt has two whole conversations.
  const whole = talk || answer !== 'completion' ? [...(asked ?? []), ...(answered ?? [])] : asked && answered && [...asked, ...answered];
  const messages = own && own.length > 0 ? own : whole;
  if (!messages || messages.length === 0) return undefined;
  const { system } = row;
  const first = isObject(messages[0]) ? messages[0].role : undefined;
  return typeof system === 'string' && system !== '' && first !== 'system' ? [{ role: 'system', content: system }, ...messages] : messages;
}

/** ShareGPT's names. LLaMA-Factory uses the first of each line. */
const SPEAKERS: Record<string, 'user' | 'assistant' | 'call' | 'tool' | 'system'> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  bot: 'assistant',
  chatgpt: 'assistant',
  function_call: 'call',
  observation: 'tool',
  tool: 'tool',
  function: 'tool',
  function_response: 'tool',
  system: 'system',
};

/** What LLaMA-Factory puts between the results of several calls. */
export const BETWEEN_RESULTS = '\n</tool_response>\n<tool_response>\n';
const THOUGHTS = /^\s*<think>([^]*?)<\/think>\s*/;

/** Messages in OpenAI's form. Those that have a `role` are unchanged. @throws ConversationError naming the field */
function readShareGpt(list: readonly unknown[], where: string): unknown[] {
  return list.flatMap((message, i): unknown[] => {
    if (!isObject(message) || message.role !== undefined || message.from === undefined) return [message];
    const at = `${where}[${i}]`;
    const { from, value } = message;
    const speaker = typeof from === 'string' && Object.hasOwn(SPEAKERS, from) ? SPEAKERS[from] : undefined;
    if (!speaker) throw wrong(`${at}.from`, from, 'human, gpt, function_call, observation or system');
    if (speaker === 'tool')
      return (typeof value === 'string' ? value.split(BETWEEN_RESULTS) : [value]).map((content) => ({ role: 'tool', content }));
    if (speaker !== 'assistant' && speaker !== 'call') return [{ role: speaker, content: value }];
    if (typeof value !== 'string') throw wrong(`${at}.value`, value, 'a text');
    const thoughts = THOUGHTS.exec(value);
    const said = thoughts ? value.slice(thoughts[0].length) : value;
    const reasoning = thoughts && thoughts[1]!.trim() !== '' ? { reasoning_content: thoughts[1]!.trim() } : {};
    if (speaker === 'assistant') return [{ role: 'assistant', content: said, ...reasoning }];
    const call = parsed(said);
    const calls = isObject(call) ? [call] : call;
    if (!Array.isArray(calls) || calls.length === 0 || !calls.every(isObject))
      throw wrong(`${at}.value`, value, 'a call {"name": …, "arguments": {…}} as JSON text, or a list of calls');
    return [
      {
        role: 'assistant',
        content: '',
        ...reasoning,
        tool_calls: calls.map((own) => ({ type: 'function', function: { ...own, arguments: own.arguments ?? own.parameters } })),
      },
    ];
  });
}

/**
 * The tools of a row as a list, not checked yet. MUA-RL's dataset has one object with the list in its field `function`. Undefined if the
 * value is no list of tools.
 */
export function rowTools(row: Row): unknown[] | undefined {
  const column = toolColumn(row);
  const tools = row[column];
  const value = typeof tools === 'string' ? parsed(tools) : tools;
  const entries = isObject(value) && (value.function ?? value.name) !== undefined ? [value] : value;
  if (!Array.isArray(entries)) return undefined;
  return entries.flatMap((entry: unknown): unknown[] => {
    const tool = typeof entry === 'string' ? parsed(entry) : entry;
    if (!isObject(tool)) return [tool];
    if (Array.isArray(tool.function)) return tool.function.map(wrapped);
    // LLaMA-Factory wraps each tool when it renders the prompt. OpenAI's functions have no wrapper.
    return [row.conversations === undefined && column === 'tools' ? tool : wrapped(tool)];
  });
}

const wrapped = (tool: unknown): unknown => (isObject(tool) && tool.function === undefined ? { type: 'function', function: tool } : tool);
