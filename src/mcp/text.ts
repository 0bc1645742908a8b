/**
 * @file Texts of a server are data. Before a model or a person reads them, invisible characters become visible, and markup of chat
 * templates and tool calls becomes ordinary text.
 */
import { isObject } from '../base/json.ts';
import { visible } from '../base/visible.ts';
import type { Json } from '../records/json.ts';

/** `U+200B`, as documents name a character. */
export const codePoint = (character: string): string => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * What chat templates and tool calls are written with, in the forms of Qwen, Llama, Mistral, Gemma, DeepSeek and others. Each repetition
 * has a bound, because servers choose the text.
 */
const MARKUP: readonly RegExp[] = [
  /<(?=\s{0,8}[|｜][^<>\n]{1,64}[|｜]\s{0,8}>)/g,
  /<(?=\s{0,8}\/?\s{0,8}(?:tool_calls?|tool_response|tool_result|tools|think|thinking|function_calls?|function_results|(?:function|parameter)=[\w-]+|start_of_turn|end_of_turn|bos|eos|s|im_start|im_end)\b[^<>\n]{0,64}>)/gi,
  /<(?=<\/?SYS>>)/gi,
  /\[(?=\/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\])/g,
];
/** A line that begins as a turn of another speaker. */
const ROLE_LINE = /(?<=^[ \t]{0,8}(?:System|Assistant|Human|Developer)[ \t]{0,8}):/gm;

const LOOK_ALIKE: Record<string, string> = { '<': '‹', '[': '［', ':': '：' };

/** Whether a text has markup that a chat template or a parser of tool calls could obey. */
export const hasMarkup = (text: string): boolean => MARKUP.some((pattern) => text.search(pattern) >= 0);

/**
 * The text as data for a prompt. Hidden characters become `\u…`. The first character of each piece of markup becomes one that
 * looks alike. Other characters stay, and the result stays the same if it is given again.
 */
export function asData(text: string): string {
  return [...MARKUP, ROLE_LINE].reduce((kept, pattern) => kept.replace(pattern, (first) => LOOK_ALIKE[first]!), visible(text));
}

/** `asData` for all texts of a value, and for its keys. */
export function jsonAsData(value: Json): Json {
  if (typeof value === 'string') return asData(value);
  if (Array.isArray(value)) return value.map(jsonAsData);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [asData(key), jsonAsData(child as Json)]));
}

/** The text, cut to `most` characters with a note. `cut` is the number of characters that are missing. No character is cut in half. */
export function cutText(text: string, most: number): { text: string; cut: number } {
  if (text.length <= most) return { text, cut: 0 };
  const kept = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  const cut = text.length - kept.length;
  return { text: `${kept}\n[cut: ${cut.toLocaleString('en')} more characters]`, cut };
}
