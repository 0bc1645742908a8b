/**
 * @file Parses tool calls in sampled text. Qwen is trained to write Hermes markup: `<tool_call>{"name": …, "arguments":
 * {…}}</tool_call>`. If a turn may have only one call, sampling stops at the first end tag. Text after the first call is
 * ignored, also if a turn may have several calls. A call inside thoughts (`<think>…</think>`) does not count.
 */
import { isObject } from '../base/json.ts';
import { endOfJson } from '../base/tolerant-json.ts';
import type { ToolCall } from '../records/task.ts';
import { THINK_END, TOOL_CALL_END, TOOL_CALL_START } from './chat-template.ts';

export interface ParsedTurn {
  /**
   * The text that the user may hear, without markup, control tokens and thoughts. If the turn has calls, this is the text before
   * the first call.
   */
  content: string;
  /** The calls in order. Empty if one of them is malformed. */
  calls: ToolCall[];
  /** The reason why the turn's markup is not a valid call. A turn with neither `calls` nor `error` is plain speech. */
  error?: string;
}

/**
 * Parses one assistant turn. Also accepts other forms whose meaning is clear: `parameters` instead of `arguments`, arguments
 * as a JSON string of an object, missing arguments (an empty object), an OpenAI-style `function` wrapper, and a list with one
 * call.
 * @param toolNames the tools that the agent has. Null accepts any name.
 * @param most the largest number of calls in one turn. If 1, all text after the first call is ignored.
 */
export function parseTurn(text: string, toolNames: readonly string[] | null, most = 1): ParsedTurn {
  const said = withoutThoughts(text);
  const start = said.indexOf(TOOL_CALL_START);
  const end = said.indexOf(TOOL_CALL_END);
  if (start < 0 && end < 0)
    // If a turn may have only one call, sampling stops at the end tag, even inside thoughts.
    return text.endsWith(TOOL_CALL_END) || (most > 1 && openThoughts(text).includes(TOOL_CALL_END))
      ? { content: spoken(said), calls: [], error: `the tool call is inside the thoughts: expected ${THINK_END} before it` }
      : { content: spoken(said), calls: [] };
  const content = spoken(said.slice(0, start < 0 ? end : start));
  try {
    const bodies = most === 1 ? [firstBody(said).body] : allBodies(said);
    if (bodies.length > most) throw new Error(`the turn has ${bodies.length} tool calls: expected at most ${most}`);
    return { content, calls: bodies.map((body) => readCall(body, toolNames)) };
  } catch (error) {
    return { content, calls: [], error: (error as Error).message };
  }
}

/** The text between the tags of the first call, and the text after the end tag. */
function firstBody(text: string): { body: string; rest: string } {
  const start = text.indexOf(TOOL_CALL_START);
  const end = endOfCall(text, start);
  if (start < 0 || (end >= 0 && end < start)) throw new Error(`${TOOL_CALL_END} without ${TOOL_CALL_START} before it`);
  if (end < 0) throw new Error(`${TOOL_CALL_START} without ${TOOL_CALL_END}`);
  return { body: text.slice(start + TOOL_CALL_START.length, end).trim(), rest: text.slice(end + TOOL_CALL_END.length) };
}

/** The position of the end tag, or -1. An end tag in a text of the call's JSON is not the end. */
function endOfCall(text: string, start: number): number {
  const first = text.indexOf(TOOL_CALL_END);
  if (start < 0 || first < start) return first;
  const from = start + TOOL_CALL_START.length;
  const json = endOfJson(text, from + /^\s*/.exec(text.slice(from))![0].length);
  return json !== undefined && text.slice(json).trimStart().startsWith(TOOL_CALL_END) ? text.indexOf(TOOL_CALL_END, json) : first;
}

function allBodies(text: string): string[] {
  const bodies: string[] = [];
  for (let left = text; left.includes(TOOL_CALL_START) || left.includes(TOOL_CALL_END);) {
    const { body, rest } = firstBody(left);
    bodies.push(body);
    left = rest;
  }
  return bodies;
}

/** The text of a think block that is not closed. Empty if every block is closed. */
const openThoughts = (text: string): string => /<think>[^]*$/.exec(text.replace(/<think>[^]*?<\/think>/g, ''))?.[0] ?? '';

/** The text of the first closed think block. Empty if there is no such block. */
export function thoughtsOf(text: string): string {
  return /<think>([^]*?)<\/think>/.exec(text)?.[1]!.trim() ?? '';
}

/** The text without think blocks. A block that is not closed is removed too. */
export function withoutThoughts(text: string): string {
  return text.replace(/<think>[^]*?(<\/think>|$)/g, '');
}

const CONTROL = /<[|｜][^\s<>|｜]+[|｜]>|<\/s>/;
const END = new RegExp(`(?:${CONTROL.source})$`);
const SILENT = new RegExp(`${CONTROL.source}|</?think>`, 'g');

/** The sampled text without the control token that ends a turn, such as `<|im_end|>` or `</s>`. */
export const withoutEnd = (text: string): string => text.replace(END, '');

/** The text without control tokens and think blocks. The user never hears these. */
export function spoken(text: string): string {
  return withoutThoughts(text).replace(SILENT, '').trim();
}

function readCall(body: string, toolNames: readonly string[] | null): ToolCall {
  let value = parseJson(body, 'the tool call');
  if (Array.isArray(value) && value.length > 0) value = value[0];
  if (!isObject(value)) throw new Error(`the tool call is ${kind(value)}: expected a JSON object with "name" and "arguments"`);
  const call = !('name' in value) && isObject(value.function) ? value.function : value;
  const { name } = call;
  if (typeof name !== 'string' || name === '') throw new Error(`the tool call's "name" is ${kind(name)}: expected the name of a tool`);
  if (toolNames && !toolNames.includes(name)) throw new Error(unknownTool(name));
  let args: unknown = call.arguments ?? call.parameters ?? {};
  if (typeof args === 'string') args = parseJson(args, 'the tool call\'s "arguments"');
  if (!isObject(args)) throw new Error(`the tool call's "arguments" is ${kind(args)}: expected a JSON object`);
  return { name, arguments: args as ToolCall['arguments'] };
}

export const unknownTool = (name: string): string => `unknown tool ${JSON.stringify(name.slice(0, 80))}`;

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The model reads this message, so it must not depend on the browser. The message of JSON.parse does.
    throw new Error(`${what} is not valid JSON`);
  }
}

function kind(value: unknown): string {
  return value === undefined
    ? 'missing'
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'a list'
        : value === ''
          ? 'empty'
          : `a ${typeof value}`;
}
