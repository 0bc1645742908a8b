/** @file Reads an answer of a server's agent: its words and its calls. */
import type { AgentFormat } from '../../records/agent-server.ts';
import { isObject } from '../../base/json.ts';
import type { Task, ToolCall, ToolSchema } from '../../records/task.ts';
import type { AgentAnswer, RawCall } from '../../users/agent-model.ts';
import { RequestFailure } from '../../users/endpoint/failure.ts';
import type { Turn } from '../agent-turn.ts';
import { QWEN, renderAssistant, TOOL_CALL_END, TOOL_CALL_START } from '../chat-template.ts';
import type { EpisodeRules } from '../rules.ts';
import { inHermesMarkup } from './hermes-markup.ts';
import { parseJson, type ParsedTurn, parseTurn, unknownTool } from '../tool-call.ts';

export type ReadRules = Pick<EpisodeRules, 'callsPerTurn' | 'callsPerMessage' | 'readTurn' | 'readCalls'>;

/** What the model wrote, and what the episode plays of it. */
export interface ReadTurn {
  turn: Turn;
  /** The calls that stay in the conversation. */
  calls: RawCall[];
  /** The text that stays in the conversation. */
  text: string;
}

/** What decides how an answer is read. */
export interface Reading {
  task: Task;
  rules: ReadRules;
  /** The tools that the agent may call. Null accepts any name. */
  toolNames: readonly string[] | null;
}

/**
 * @throws RequestFailure if the server leaves calls in the text, although they belong in `tool_calls`
 */
export function readAnswer({ text, calls }: Pick<AgentAnswer, 'text' | 'calls'>, format: AgentFormat, reading: Reading): ReadTurn {
  const { rules, toolNames } = reading;
  if (format === 'text') return readText(text, reading);
  if (calls.length === 0) return readWords(text, reading);
  const kept = calls.slice(0, rules.callsPerMessage ?? rules.callsPerTurn);
  const parsed = rules.readCalls?.(kept.map((call) => call.function)) ?? readCalls(kept, toolNames);
  const written = renderAssistant(
    QWEN,
    text,
    calls.map((call) => call.function),
  );
  return { turn: { text: written, ...parsed, content: text }, calls: kept, text };
}

function readText(text: string, { rules, toolNames, task }: Reading): ReadTurn {
  const turn = { text, ...(rules.readTurn?.(text, task) ?? parseTurn(text, toolNames, rules.callsPerTurn)) };
  // Sampling of our own models stops at the end of the only call.
  const cut = turn.calls.length > 0 && rules.callsPerTurn === 1;
  return { turn, calls: [], text: cut ? text.slice(0, text.indexOf(TOOL_CALL_END) + TOOL_CALL_END.length) : text };
}

/**
 * Reads an answer whose text has the calls in the model's own form.
 * @param tools the tools that the model was shown
 * @throws RequestFailure if the calls have a form that is not known
 */
export function readWritten(text: string, tools: readonly ToolSchema[], { rules, toolNames, task }: Reading): ReadTurn {
  const marked = inHermesMarkup(text, tools);
  const read = rules.readTurn?.(marked, task) ?? parseTurn(marked, toolNames, rules.callsPerMessage ?? rules.callsPerTurn);
  const mark = CALL_MARKS.exec(marked)?.[0];
  if (mark !== undefined && mark !== TOOL_CALL_START && read.calls.length === 0)
    throw new RequestFailure(
      `the agent’s model wrote a call in a form that is not read (“${mark}”): choose the format “text”, or another model`,
      'bad_response',
      { final: true },
    );
  const calls = read.calls.map(({ name, arguments: args, exact = JSON.stringify(args) }): RawCall => ({
    id: '',
    type: 'function',
    function: { name, arguments: exact },
  }));
  return { turn: { text, ...read }, calls, text: calls.length > 0 ? read.content : text };
}

/** Marks of calls that a server should have read. */
const CALL_MARKS =
  /<tool_call>|<\|tool_calls?|\[TOOL_CALLS\]|<\|python_tag\|>|<function=|<function_call>|<start_function_call>|<｜tool▁calls?▁begin｜>/;

function readWords(text: string, { rules, toolNames, task }: Reading): ReadTurn {
  const mark = CALL_MARKS.exec(text)?.[0];
  // Some benchmarks have calls of their own in words.
  if (mark === undefined) return { turn: { text, ...(rules.readTurn?.(text, task) ?? { content: text, calls: [] }) }, calls: [], text };
  // A server with a reader of calls leaves only those in the text that it cannot read.
  const turn = { text, ...(rules.readTurn?.(text, task) ?? parseTurn(text, toolNames, Infinity)) };
  if (mark !== TOOL_CALL_START || turn.calls.length > 0)
    throw new RequestFailure(
      `the agent’s server sent a call as text (“${mark}”): expected it in tool_calls; start the server with its reader of tool calls, or choose the format “text”`,
      'bad_response',
      { final: true },
    );
  return { turn, calls: [], text };
}

function readCalls(calls: readonly RawCall[], toolNames: readonly string[] | null): Omit<ParsedTurn, 'content'> {
  try {
    return { calls: calls.map(({ function: called }) => readCall(called, toolNames)) };
  } catch (error) {
    return { calls: [], error: (error as Error).message };
  }
}

function readCall({ name, arguments: text }: RawCall['function'], toolNames: readonly string[] | null): ToolCall {
  if (toolNames && !toolNames.includes(name)) throw new Error(unknownTool(name));
  const args = parseJson(text, 'the tool call\'s "arguments"');
  if (!isObject(args)) throw new Error('the tool call\'s "arguments" is not a JSON object');
  const call = { name, arguments: args as ToolCall['arguments'] };
  return JSON.stringify(args) === withoutSpace(text) ? call : { ...call, exact: text };
}

/** JSON without the white space between its parts. */
const withoutSpace = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
