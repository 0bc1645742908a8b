/** @file The prompts of BFCL's handlers for Qwen models: Qwen3's chat template, with the tools as BFCL writes them. */
import { TOOLS_HEAD, TOOLS_TAIL } from '../../agent/chat-template.ts';
import { itemOf } from '../../python/operations.ts';
import { dumps } from '../../python/text.ts';
import { Dict, equal, PyError, typeName, type Value } from '../../python/values.ts';

export type QwenMessage =
  { role: 'system' | 'user' | 'tool'; content: string } | { role: 'assistant'; content: string; reasoning: string; calls: Value[] };

const isToolResponse = (text: string) => text.startsWith('<tool_response>') && text.endsWith('</tool_response>');
const trimLines = (text: string) => text.replace(/^\n+|\n+$/g, '');

/** @param functions shown as tools. Absent in the prompt mode @throws {PyError} if a stored call has no name or arguments, as upstream does */
export function qwenPrompt(messages: readonly QwenMessage[], functions?: readonly Dict[]): string {
  const [first] = messages;
  const system = first?.role === 'system' ? first.content : undefined;
  let text = '';
  if (functions && functions.length > 0) {
    const tools = functions.map((one) => `\n${dumps(one)}`).join('');
    text += `<|im_start|>system\n${system === undefined ? '' : `${system}\n\n`}${TOOLS_HEAD}${tools}${TOOLS_TAIL}<|im_end|>\n`;
  } else if (system !== undefined) text += `<|im_start|>system\n${system}<|im_end|>\n`;
  const lastQuery = messages.findLastIndex(({ role, content }) => role === 'user' && !isToolResponse(content));
  for (const [i, message] of messages.entries()) {
    const { role, content } = message;
    if (role === 'assistant') text += assistant(message, i > lastQuery && lastQuery >= 0, i === messages.length - 1);
    else if (role === 'tool') {
      const [before, after] = [messages[i - 1]?.role, messages[i + 1]?.role];
      text += `${before === 'tool' ? '' : '<|im_start|>user'}\n<tool_response>\n${content}\n</tool_response>${after === 'tool' ? '' : '<|im_end|>\n'}`;
    } else if (role === 'user' || i > 0) text += `<|im_start|>${role}\n${content}<|im_end|>\n`;
  }
  return `${text}<|im_start|>assistant\n`;
}

function assistant({ content, reasoning, calls }: QwenMessage & { role: 'assistant' }, sinceQuery: boolean, last: boolean): string {
  const thinks = sinceQuery && (last || reasoning !== '');
  const said = thinks ? `<think>\n${trimLines(reasoning)}\n</think>\n\n${content.replace(/^\n+/, '')}` : content;
  const written = calls.map((call, i) => {
    const line = !equal(call, calls[0]!) || (i === 0 && content !== '') ? '\n' : '';
    const [name, args] = [itemOf(call, 'name'), itemOf(call, 'arguments')];
    if (typeof name !== 'string') throw new PyError('TypeError', `can only concatenate str (not "${typeName(name)}") to str`);
    return `${line}<tool_call>\n{"name": "${name}", "arguments": ${typeof args === 'string' ? args : dumps(args)}}\n</tool_call>`;
  });
  return `<|im_start|>assistant\n${said}${written.join('')}<|im_end|>\n`;
}
