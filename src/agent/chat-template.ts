/**
 * @file The Qwen3 chat template with tools in non-thinking mode, one piece at a time.
 *
 * A conversation is only ever extended: each function returns the string that a message adds, and each string begins at a
 * control token, so that tokenising the pieces one by one equals tokenising them joined (but for a sampled text that
 * begins with a line break, where the sampled tokens rule). Training and evaluation use these same pieces.
 *
 * One difference from the template that Qwen ships: there the empty think block after `<|im_start|>assistant` is taken
 * out of past turns, which would change tokens that were already seen and sampled. Here it stays, as MUA-RL trains it.
 */
import { toPythonJson } from './python-json.ts';
import type { Tokenizer } from './types.ts';

const IM_START = '<|im_start|>';
export const IM_END = '<|im_end|>';
export const END_OF_TEXT = '<|endoftext|>';
export const TOOL_CALL_START = '<tool_call>';
export const TOOL_CALL_END = '</tool_call>';

/** Where the model takes over; an empty think block turns thinking off. */
export const GENERATION_PROMPT = `${IM_START}assistant\n<think>\n\n</think>\n\n`;

const TOOLS_HEAD =
  '# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>';
const TOOLS_TAIL =
  '\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>';

/** The system message: the policy, then one tool schema a line. '' when there is neither. */
export function renderOpening(system: string | null, tools: readonly unknown[]): string {
  if (tools.length === 0) return system === null ? '' : `${IM_START}system\n${system}${IM_END}\n`;
  const schemas = tools.map((tool) => `\n${toPythonJson(tool)}`).join('');
  return `${IM_START}system\n${system === null ? '' : `${system}\n\n`}${TOOLS_HEAD}${schemas}${TOOLS_TAIL}${IM_END}\n`;
}

export function renderUser(text: string): string {
  return `${IM_START}user\n${text}${IM_END}\n`;
}

/** Results of one assistant message's calls; they share a user turn. */
export function renderToolResponses(texts: readonly string[]): string {
  return `${IM_START}user${texts.map((text) => `\n<tool_response>\n${text}\n</tool_response>`).join('')}${IM_END}\n`;
}

/** One tool call as the model writes it. A string of arguments is taken verbatim, as Qwen's template does. */
export function renderToolCall(name: string, args: Record<string, unknown> | string): string {
  return `${TOOL_CALL_START}\n{"name": "${name}", "arguments": ${typeof args === 'string' ? args : toPythonJson(args)}}\n${TOOL_CALL_END}`;
}

/** What an assistant message holds between the generation prompt and `<|im_end|>`. */
export function renderAssistant(content: string, calls: readonly { name: string; arguments: Record<string, unknown> | string }[]): string {
  return [content, ...calls.map((call) => renderToolCall(call.name, call.arguments))].filter((part) => part !== '').join('\n');
}

/** What the template adds after an assistant turn: all but the `<|im_end|>` that the model may have sampled itself. */
export function renderClosing(endedWithImEnd: boolean): string {
  return endedWithImEnd ? '\n' : `${IM_END}\n`;
}

/** What of an OpenAI-style conversation the template shows. */
export interface RenderableConversation {
  messages: readonly {
    role: 'system' | 'user' | 'assistant' | 'tool';
    content: string;
    tool_calls?: readonly { function: { name: string; arguments: Record<string, unknown> | string } }[] | null;
  }[];
  /** OpenAI function schemas. */
  tools?: readonly unknown[] | null;
}

export interface RenderedConversation {
  tokens: number[];
  /** 1 exactly on what the model would write: content, tool-call markup, and the `<|im_end|>` that closes its turn. */
  lossMask: number[];
}

/**
 * Tokens as a rollout would have seen them. Every tool call of a message is rendered. Thoughts (`<think>…</think>` at the
 * start of a content) are left out: the template is the non-thinking one.
 */
export function renderConversation(tokenizer: Tokenizer, conversation: RenderableConversation): RenderedConversation {
  const rendered: RenderedConversation = { tokens: [], lossMask: [] };
  for (const { text, sampled } of renderPieces(conversation)) {
    const ids = tokenizer.encode(text);
    for (const id of ids) {
      rendered.tokens.push(id);
      rendered.lossMask.push(sampled ? 1 : 0);
    }
  }
  return rendered;
}

/** The conversation as strings, those that the model would write marked. */
export function renderPieces({ messages, tools }: RenderableConversation): { text: string; sampled: boolean }[] {
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
      given(GENERATION_PROMPT);
      pieces.push({ text: renderAssistant(withoutThoughts(message.content), calls) + IM_END, sampled: true });
      given('\n');
    }
  }
  return pieces.filter((piece) => piece.text !== '');
}

function withoutThoughts(content: string): string {
  const end = content.lastIndexOf('</think>');
  return end < 0 ? content : content.slice(end + '</think>'.length).replace(/^\n+/, '');
}

/**
 * The same rendering as a Jinja template, for `tokenizer_config.json`: what vLLM, TRL and others make of a conversation is
 * then what the model was trained on. The generation prompt never opens a think block.
 */
export const CHAT_TEMPLATE = `
{%- set assistant = '${escape(GENERATION_PROMPT)}' %}
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

/** A string as it stands between single quotes in Jinja. */
function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll("'", "\\'");
}
