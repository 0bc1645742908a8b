/** @file Pairs of a better and a worse answer to the same messages, for preference optimisation. */
import { isObject } from '../base/json.ts';
import type { ChatMessage, Preference } from '../records/conversation.ts';
import { checkedConversation, type ReadOptions, record } from './conversation.ts';
import { asObject, listOf, rowMessages, wrong } from './conversation-row.ts';
import { toPythonJson } from './python-json.ts';

/**
 * Reads a row with `chosen` and `rejected`: TRL's, with or without `prompt`, or LLaMA-Factory's ShareGPT. Without a prompt, the prompt is
 * what both have before the agent's first different message.
 * @throws ConversationError naming the field; also if the agent says the same in both
 */
export function readPreference(value: unknown, where = 'pair', options: ReadOptions = {}): Preference {
  const row = record(value, where);
  const side = (name: 'chosen' | 'rejected') => {
    if (!listOf(row[name]) && !isObject(row[name])) throw wrong(`${where}: ${name}`, row[name], 'a message, or a list of messages');
    return checkedConversation(row, rowMessages(row, where, name), where, options);
  };
  const [chosen, rejected] = [side('chosen'), side('rejected')];
  const same = commonMessages(chosen.messages, rejected.messages);
  const given = listOf(row.prompt) ?? listOf(row.conversations);
  const start = given ? (rowMessages({ ...row, chosen: [] }, where, 'chosen')?.length ?? 0) : same;
  if (start === 0) throw wrong(`${where}: prompt`, row.prompt, 'a list of at least one message');
  const pair: Preference = {
    prompt: chosen.messages.slice(0, start),
    chosen: chosen.messages.slice(start),
    rejected: rejected.messages.slice(start),
    ...(chosen.tools && { tools: chosen.tools }),
  };
  for (const name of ['chosen', 'rejected'] as const)
    if (pair[name][0]?.role !== 'assistant') throw wrong(`${where}: ${name}[0]`, pair[name][0], 'a message of role "assistant"');
  if (same === chosen.messages.length && same === rejected.messages.length)
    throw wrong(`${where}: rejected`, row.rejected, 'another answer than chosen');
  return pair;
}

/** The number of messages at the start that are the same for a reader: the ids of calls and the form of arguments do not count. */
export function commonMessages(a: readonly ChatMessage[], b: readonly ChatMessage[]): number {
  const different = a.findIndex((message, i) => b[i] === undefined || meaning(message) !== meaning(b[i]));
  return different < 0 ? a.length : different;
}

/** A message as a text, without the ids of its calls. */
const meaning = ({ role, content, tool_calls: calls = [], reasoning_content: thoughts = '' }: ChatMessage): string =>
  toPythonJson([role, content, thoughts, calls.map(({ function: { name, arguments: args } }) => [name, asObject(args)])]);
