/**
 * @file The Qwen3 chat template with tools, with and without thinking, one piece at a time.
 *
 * A conversation only grows. Each function returns the string that a message adds. Each string begins with a control token, so
 * tokenising the pieces one by one gives the same ids as tokenising the whole text. The exception is a sampled text that
 * begins with a line break: for it, the sampled ids are kept. Training and evaluation use the same pieces.
 *
 * There is one difference from Qwen's template, which removes the think blocks after `<|im_start|>assistant` from past turns.
 * This would change tokens that the model has already seen and sampled. Here the blocks stay, as in MUA-RL.
 */
import { toPythonJson } from './python-json.ts';
import type { Tokenizer } from './types.ts';

const IM_START = '<|im_start|>';
export const IM_END = '<|im_end|>';
export const END_OF_TEXT = '<|endoftext|>';
export const TOOL_CALL_START = '<tool_call>';
export const TOOL_CALL_END = '</tool_call>';

const THINK_START = '<think>';
export const THINK_END = '</think>';
const NO_THOUGHTS = `${THINK_START}\n\n${THINK_END}\n\n`;

/** The text before a turn of the model. Without thinking (Qwen3's `enable_thinking: false`), it ends with an empty think block. */
export function generationPrompt(thinking = false): string {
  return `${IM_START}assistant\n${thinking ? '' : NO_THOUGHTS}`;
}

/** Formats a turn that was not sampled, in the way the model would have written it. With thinking, it begins with a think block. */
export function withThinkBlock(text: string, thinking = false, thoughts = ''): string {
  if (!thinking || text.includes(THINK_END)) return text;
  return (thoughts.trim() === '' ? NO_THOUGHTS : `${THINK_START}\n${thoughts.trim()}\n${THINK_END}\n\n`) + text;
}

const TOOLS_HEAD =
  '# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>';
const TOOLS_TAIL =
  '\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>';

/** The system message: the policy, then one tool schema on each line. Empty if there is neither a policy nor a tool. */
export function renderOpening(system: string | null, tools: readonly unknown[]): string {
  if (tools.length === 0) return system === null ? '' : `${IM_START}system\n${system}${IM_END}\n`;
  return `${IM_START}system\n${system === null ? '' : `${system}\n\n`}${toolsText(tools)}${IM_END}\n`;
}

/** The text of a system message that tells the agent its tools, without the tokens of the template. */
export function toolsText(tools: readonly unknown[]): string {
  return TOOLS_HEAD + tools.map((tool) => `\n${toPythonJson(tool)}`).join('') + TOOLS_TAIL;
}

export function renderUser(text: string): string {
  return `${IM_START}user\n${text}${IM_END}\n`;
}

/** The results of all tool calls of one assistant message, in one user turn. */
export function renderToolResponses(texts: readonly string[]): string {
  return texts.map((text, i) => renderToolResponse(text, i === 0, i === texts.length - 1)).join('');
}

/** The result of one tool call. The first result begins the user turn, and the last result ends it. */
export function renderToolResponse(text: string, first: boolean, last: boolean): string {
  return `${first ? `${IM_START}user` : ''}\n<tool_response>\n${text}\n</tool_response>${last ? `${IM_END}\n` : ''}`;
}

/** One tool call, as the model writes it. Arguments that are already a string are not changed, as in Qwen's template. */
export function renderToolCall(name: string, args: Record<string, unknown> | string): string {
  return `${TOOL_CALL_START}\n{"name": "${name}", "arguments": ${typeof args === 'string' ? args : toPythonJson(args)}}\n${TOOL_CALL_END}`;
}

/** The text of an assistant message between the generation prompt and `<|im_end|>`. */
export function renderAssistant(content: string, calls: readonly { name: string; arguments: Record<string, unknown> | string }[]): string {
  return [content, ...calls.map((call) => renderToolCall(call.name, call.arguments))].filter((part) => part !== '').join('\n');
}

/** The text that the template adds after an assistant turn. It contains no `<|im_end|>` if the model sampled this token itself. */
export function renderClosing(endedWithImEnd: boolean): string {
  return endedWithImEnd ? '\n' : `${IM_END}\n`;
}

/** The fields of an OpenAI-style conversation that the template uses. */
export interface RenderableConversation {
  messages: readonly {
    role: 'system' | 'user' | 'assistant' | 'tool';
    content: string;
    /** The thoughts of the assistant. Used if `content` does not begin with a think block. */
    reasoning_content?: string | null;
    tool_calls?: readonly { function: { name: string; arguments: Record<string, unknown> | string } }[] | null;
  }[];
  /** OpenAI function schemas. */
  tools?: readonly unknown[] | null;
}

export interface RenderedConversation {
  tokens: number[];
  /**
   * 1 for the tokens that the model would write: content, tool-call markup, and the `<|im_end|>` at the end of the turn. 0 for
   * all others.
   */
  lossMask: number[];
}

/**
 * The tokens that a rollout with these messages would have. Every tool call of a message is rendered. Thoughts are at the
 * start of a content (`<think>…</think>`) or in `reasoning_content`. Without thinking they are dropped. With thinking they are
 * rendered as text that the model writes, and a message without thoughts gets an empty think block.
 */
export function renderConversation(tokenizer: Tokenizer, conversation: RenderableConversation, thinking = false): RenderedConversation {
  const rendered: RenderedConversation = { tokens: [], lossMask: [] };
  for (const { text, sampled } of renderPieces(conversation, thinking)) {
    const ids = tokenizer.encode(text);
    for (const id of ids) {
      rendered.tokens.push(id);
      rendered.lossMask.push(sampled ? 1 : 0);
    }
  }
  return rendered;
}

/** The conversation as strings. `sampled` is true for strings that the model would write. */
export function renderPieces({ messages, tools }: RenderableConversation, thinking = false): { text: string; sampled: boolean }[] {
  const pieces: { text: string; sampled: boolean }[] = [];
  const given = (text: string) => pieces.push({ text, sampled: false });
  const leading = messages[0]?.role === 'system' ? messages[0] : undefined;
  given(renderOpening(leading ? leading.content : null, tools ?? []));
  for (let i = leading ? 1 : 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === 'user') given(renderUser(message.content));
    else if (message.role === 'system') given(`${IM_START}system\n${message.content}${IM_END}\n`);
    else if (message.role === 'tool') {
      const results = [message.content];
      while (messages[i + 1]?.role === 'tool') results.push(messages[++i]!.content);
      given(renderToolResponses(results));
    } else {
      const calls = (message.tool_calls ?? []).map((call) => call.function);
      const content = thinking ? message.content : withoutThoughts(message.content);
      given(generationPrompt(thinking));
      pieces.push({
        text: withThinkBlock(renderAssistant(content, calls), thinking, message.reasoning_content ?? '') + IM_END,
        sampled: true,
      });
      given('\n');
    }
  }
  return pieces.filter((piece) => piece.text !== '');
}

function withoutThoughts(content: string): string {
  const end = content.lastIndexOf(THINK_END);
  return end < 0 ? content : content.slice(end + THINK_END.length).replace(/^\n+/, '');
}

/**
 * The same rendering as a Jinja template, for `tokenizer_config.json`. With it, vLLM, TRL and other tools render conversations
 * as in training. Unlike in Qwen3's template, `enable_thinking` is off by default.
 */
export const CHAT_TEMPLATE = `
{%- set thinking = enable_thinking is defined and enable_thinking %}
{%- set no_thoughts = '${escape(NO_THOUGHTS)}' %}
{%- set assistant = '${escape(generationPrompt(true))}' + ('' if thinking else no_thoughts) %}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- '${escape(TOOLS_HEAD)}' }}
    {%- for tool in tools %}
        {{- '\\n' }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '${escape(TOOLS_TAIL)}<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- assistant }}
        {%- if thinking and '${THINK_END}' not in (message.content or '') %}
            {%- if message.reasoning_content and message.reasoning_content.strip() %}
                {{- '${THINK_START}\\n' + message.reasoning_content.strip() + '\\n${THINK_END}\\n\\n' }}
            {%- else %}
                {{- no_thoughts }}
            {%- endif %}
        {%- endif %}
        {%- if message.content %}
            {{- message.content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if message.content or not loop.first %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- assistant }}
{%- endif %}`.trimStart();

/** Escapes a string that stands between single quotes in Jinja. */
function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll("'", "\\'");
}
