/**
 * @file The calls of a model in the tab, in the markup of Hermes and Qwen, which the episode reads. Models write calls as their chat
 * templates show them: Llama 3 as JSON, Mistral and Phi as a list, Qwen3-Coder and Qwen3.5 as tags.
 */
import { isJsonText, isObject } from '../../base/json.ts';
import { endOfJson } from '../../base/tolerant-json.ts';
import type { ToolSchema } from '../../records/task.ts';
import { TOOL_CALL_END, TOOL_CALL_START } from '../chat-template.ts';

/** Before a list of calls: those of Mistral, of Granite and Phi, and of Llama 3. All text after the mark belongs to the calls. */
const LIST_MARKS = /\[TOOL_CALLS\]|<\|tool_call\|>|<\|python_tag\|>/;
const LIST_END = /<\|\/tool_call\|>\s*$/;
/** A call in tags, in or without `<tool_call>`. */
const TAGGED = /(?:<tool_call>\s*)?<function=([^>\n]+)>([^]*?)<\/function>(?:\s*<\/tool_call>)?/g;
const PARAMETER = /<parameter=([^>\n]+)>\n?([^]*?)\n?<\/parameter>/g;

const marked = (body: string): string => `${TOOL_CALL_START}\n${body}\n${TOOL_CALL_END}`;

/** @param tools the tools that the model was shown, which say the types of arguments in tags */
export function inHermesMarkup(text: string, tools: readonly ToolSchema[]): string {
  const start = LIST_MARKS.exec(text);
  if (start) return text.slice(0, start.index) + listed(text.slice(start.index + start[0].length).replace(LIST_END, ''));
  if (isBareCall(text)) return marked(text.trim());
  return text.replace(TAGGED, (_, name: string, body: string) => marked(fromTags(name.trim(), body, tools)));
}

/** The calls of a list, or one after another. A text that is no such list stays one call, which cannot be read. */
function listed(text: string): string {
  // Newer versions of Mistral: [TOOL_CALLS]name[ARGS]{…}
  const named = /^\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(\{[^]*)$/.exec(text);
  if (named) return marked(`{"name": ${JSON.stringify(named[1])}, "arguments": ${named[2]!.trim()}}`);
  const bodies: string[] = [];
  let at = /^\s*\[?/.exec(text)![0].length;
  for (;;) {
    at += /^[\s,;]*/.exec(text.slice(at))![0].length;
    const end = text[at] === '{' ? endOfJson(text, at) : undefined;
    if (end === undefined) break;
    bodies.push(text.slice(at, end));
    at = end;
  }
  const isWhole = bodies.length > 0 && /^\]?\s*$/.test(text.slice(at));
  return (isWhole ? bodies : [text.trim()]).map(marked).join('\n');
}

/** Whether the whole text is one call of Llama 3. */
function isBareCall(text: string): boolean {
  if (!/^\s*\{[^]*\}\s*$/.test(text)) return false;
  try {
    const call: unknown = JSON.parse(text);
    return isObject(call) && typeof call.name === 'string' && isObject(call.parameters ?? call.arguments);
  } catch {
    return false;
  }
}

function fromTags(name: string, body: string, tools: readonly ToolSchema[]): string {
  const json = (args: string) => `{"name": ${JSON.stringify(name)}, "arguments": ${args}}`;
  if (body.trimStart().startsWith('{')) return json(body.trim());
  const types = tools.find((tool) => tool.function.name === name)?.function.parameters.properties;
  const values = [...body.matchAll(PARAMETER)].map(([, key = '', value = '']) => {
    const { type } = (types?.[key.trim()] ?? {}) as { type?: unknown };
    return `${JSON.stringify(key.trim())}: ${type === 'string' || !isJsonText(value) ? JSON.stringify(value) : value.trim()}`;
  });
  return json(`{${values.join(', ')}}`);
}
