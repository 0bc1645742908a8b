/** @file Tools in few words, for a model whose chat template has no format for tools: one line for each tool. */
import { isObject } from '../base/json.ts';
import { toPythonJson } from './python-json.ts';

export const COMPACT_HEAD = 'Tools:';
export const COMPACT_TAIL = '\nTo use a tool, write <tool_call>{"name": "tool", "arguments": {"argument": "value"}}</tool_call>';

/** @param tools OpenAI function schemas */
export function compactToolsText(tools: readonly unknown[]): string {
  return COMPACT_HEAD + tools.map((tool) => `\n${signature(tool)}`).join('') + COMPACT_TAIL;
}

/** For example `cancel(order_id, reason: "mistake" or "delay", note?): Cancels an order.` A text has no type; `?` marks what may be absent. */
function signature(tool: unknown): string {
  const { name, description = '', parameters } = of(of(tool).function ?? tool);
  const { properties, required } = of(parameters);
  const needed = Array.isArray(required) ? required : [];
  const list = Object.entries(of(properties)).map(([own, schema]) => own + (needed.includes(own) ? '' : '?') + kind(of(schema)));
  return `${String(name)}(${list.join(', ')}): ${String(description)}`;
}

function kind(schema: Record<string, unknown>): string {
  const { type, enum: choices } = schema;
  if (Array.isArray(choices)) return `: ${choices.map(toPythonJson).join(' or ')}`;
  if (type === 'string') return '';
  return `: ${['number', 'integer', 'boolean'].includes(String(type)) ? String(type) : toPythonJson(schema)}`;
}

const of = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
