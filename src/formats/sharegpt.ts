/**
 * @file Writes conversations as LLaMA-Factory's ShareGPT. The program skips a conversation unless a message of the customer or a tool and one
 * of the agent take turns, and the agent's is the last.
 */
import type { Note } from '../agent/conversation.ts';
import { asObject, BETWEEN_RESULTS } from '../agent/conversation-row.ts';
import { toPythonJson } from '../agent/python-json.ts';
import { isObject } from '../base/json.ts';
import type { ChatMessage, Conversation, Preference } from '../records/conversation.ts';
import type { Row } from './row-fields.ts';

interface Turn {
  from: 'human' | 'gpt' | 'function_call' | 'observation';
  value: string;
}

/** The columns `conversations`, `system` and `tools`. A pair also has `chosen` and `rejected`. */
export function shareGptRow(given: Conversation | Preference, note: Note): Row {
  const isPair = 'chosen' in given;
  const messages = isPair ? given.prompt : given.messages;
  const [first] = messages;
  const system = first?.role === 'system' ? first.content : undefined;
  const turns = turnsOf(system === undefined ? messages : messages.slice(1), note);
  if (!isPair && turns.length > 1 && isHeard(turns.at(-1)!)) {
    turns.pop();
    note('the last message, after the agent’s last, is left out, as LLaMA-Factory wants the agent’s last');
  }
  const last = turns.at(-1);
  if (!last || isHeard(last) !== isPair || turns.some((turn, i) => isHeard(turn) !== (i % 2 === 0)))
    note('the speakers do not take turns, so LLaMA-Factory will skip the row');
  return {
    conversations: turns,
    ...(isPair && { chosen: answerOf(given.chosen, note), rejected: answerOf(given.rejected, note) }),
    ...(system !== undefined && { system }),
    ...(given.tools && {
      tools: toPythonJson(given.tools.map((tool) => ('function' in tool && isObject(tool.function) ? tool.function : tool))),
    }),
  };
}

const isHeard = ({ from }: Turn) => from === 'human' || from === 'observation';

function answerOf(messages: readonly ChatMessage[], note: Note): Turn {
  const [answer, ...more] = turnsOf(messages, note);
  if (more.length > 0) note('only the first message of chosen and rejected is kept, as the format has only one');
  return answer!;
}

/** The results of several calls stand in the order of the calls, because the format has no ids that say which result is whose. */
function inCallOrder(messages: readonly ChatMessage[]): ChatMessage[] {
  const ordered = [...messages];
  for (const [i, { tool_calls: calls = [] }] of messages.entries()) {
    if (calls.length < 2) continue;
    const after = messages.slice(i + 1);
    const end = after.findIndex(({ role }) => role !== 'tool');
    const results = end < 0 ? after : after.slice(0, end);
    const place = ({ tool_call_id: id }: ChatMessage) => calls.findIndex((call) => call.id !== undefined && call.id === id);
    if (results.some((result) => place(result) < 0)) continue;
    ordered.splice(i + 1, results.length, ...results.sort((a, b) => place(a) - place(b)));
  }
  return ordered;
}

function turnsOf(messages: readonly ChatMessage[], note: Note): Turn[] {
  const turns: Turn[] = [];
  for (const [i, message] of inCallOrder(messages).entries()) {
    const { role, content, tool_calls: calls = [], reasoning_content: thoughts } = message;
    const before = thoughts === undefined ? '' : `<think>\n${thoughts}\n</think>\n\n`;
    if (message.tool_call_id !== undefined || calls.some(({ id }) => id !== undefined)) note('the ids of calls are left out');
    if (message.name !== undefined) note(`the names in messages of role ${role} are left out`);
    if (role === 'system') note('a later message of the system is left out');
    else if (role === 'user') turns.push({ from: 'human', value: content });
    else if (role === 'tool') {
      // The program has one turn for the results of all calls of a message.
      if (messages[i - 1]?.role === 'tool') turns.at(-1)!.value += BETWEEN_RESULTS + content;
      else turns.push({ from: 'observation', value: content });
    } else if (calls.length > 0) {
      if (content !== '') note('the words beside a call are left out');
      const functions = calls.map(({ function: { name, arguments: args } }) => ({ name, arguments: asObject(args) }));
      turns.push({ from: 'function_call', value: before + toPythonJson(functions.length === 1 ? functions[0] : functions) });
    } else turns.push({ from: 'gpt', value: before + content });
  }
  return turns;
}
