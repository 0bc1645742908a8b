/**
 * @file The chat template with tools, with and without thinking, one piece at a time. `ChatFormat` says how a model's conversations
 * are written: as Qwen3's template does, or as the model's own template does (read-format.ts).
 *
 * A conversation only grows. Each function returns the string that a message adds. Each string begins with a control token, so
 * tokenising the pieces one by one gives the same ids as tokenising the whole text. The exception is a sampled text that
 * begins with a line break: for it, the sampled ids are kept. Training and evaluation use the same pieces.
 *
 * There is one difference from Qwen's template, which removes the think blocks after `<|im_start|>assistant` from past turns.
 * This would change tokens that the model has already seen and sampled. Here the blocks stay, as in MUA-RL.
 */
import { InputError } from '../base/input-error.ts';
import { asText } from '../base/text-pieces.ts';
import { compactToolsText } from './compact-tools.ts';
import { toPythonJson } from './python-json.ts';
import type { ChatFormat, Frame, Tokenizer } from './types.ts';

export const IM_START = '<|im_start|>';
export const IM_END = '<|im_end|>';
export const END_OF_TEXT = '<|endoftext|>';
export const TOOL_CALL_START = '<tool_call>';
export const TOOL_CALL_END = '</tool_call>';

export const THINK_START = '<think>';
export const THINK_END = '</think>';
export const NO_THOUGHTS = `${THINK_START}\n\n${THINK_END}\n\n`;

/** The format of Qwen3, and of our own models. */
export const QWEN: ChatFormat = {
  first: [`${IM_START}system\n`, `${IM_END}\n`],
  bare: '',
  system: [`${IM_START}system\n`, `${IM_END}\n`],
  user: [`${IM_START}user\n`, `${IM_END}\n`],
  agent: [`${IM_START}assistant\n`, `${IM_END}\n`],
  end: IM_END,
  thinks: true,
  trims: false,
  compact: false,
  control: [END_OF_TEXT, IM_START, IM_END],
};

const framed = ([before, after]: Frame, text: string, { trims, control }: ChatFormat): string =>
  before + asText(trims ? text.trim() : text, control) + after;

/**
 * The text before a turn of the model. Without thinking (Qwen3's `enable_thinking: false`), it ends with an empty think block if the
 * model knows think blocks.
 * @throws InputError if the model should think but cannot
 */
export function generationPrompt(format: ChatFormat, thinking = false): string {
  if (thinking && !format.thinks)
    throw new InputError('setting "enable_thinking" is true: expected false, as the chat template of the model has no think block');
  return format.agent[0] + (thinking || !format.thinks ? '' : NO_THOUGHTS);
}

/** Formats a turn that was not sampled, in the way the model would have written it. With thinking, it begins with a think block. */
export function withThinkBlock(text: string, thinking = false, thoughts = ''): string {
  if (!thinking || text.includes(THINK_END)) return text;
  return (thoughts.trim() === '' ? NO_THOUGHTS : `${THINK_START}\n${thoughts.trim()}\n${THINK_END}\n\n`) + text;
}

export const TOOLS_HEAD =
  '# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>';
export const TOOLS_TAIL =
  '\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>';

/** The system message at the start: the policy, then the tools. Only the template's own start if there is neither a policy nor a tool. */
export function renderOpening(format: ChatFormat, system: string | null, tools: readonly unknown[]): string {
  const policy = system ?? (format.compact ? null : ownPolicy(format));
  const parts = [...(policy === null ? [] : [policy]), ...(tools.length === 0 ? [] : [toolsText(format, tools)])];
  return tools.length === 0 && system === null ? format.bare : framed(format.first, parts.join('\n\n'), format);
}

/** The policy that a template writes if there is no system message, as that of Qwen2.5 does. */
function ownPolicy({ first: [before, after], bare }: ChatFormat): string | null {
  return bare !== '' && bare.startsWith(before) && bare.endsWith(after) ? bare.slice(before.length, bare.length - after.length) : null;
}

/** The text of a system message that tells the agent its tools, without the tokens of the template. */
export function toolsText({ compact }: ChatFormat, tools: readonly unknown[]): string {
  return compact ? compactToolsText(tools) : TOOLS_HEAD + tools.map((tool) => `\n${toPythonJson(tool)}`).join('') + TOOLS_TAIL;
}

/** A system message that does not stand at the start. @throws InputError if the template has none */
export function renderSystem(format: ChatFormat, text: string): string {
  if (!format.system)
    throw new InputError(
      'the conversation has a later system message: expected only one at the start, as in the chat template of the model',
    );
  return framed(format.system, text, format);
}

export const renderUser = (format: ChatFormat, text: string): string => framed(format.user, text, format);

/** The results of all tool calls of one assistant message. */
export function renderToolResponses(format: ChatFormat, texts: readonly string[]): string {
  return texts.map((text, i) => renderToolResponse(format, text, i === 0, i === texts.length - 1)).join('');
}

/**
 * The result of one tool call. The first result begins the user turn, and the last result ends it. In the compact format, each result
 * is a user turn, so that each piece begins with a control token.
 */
export function renderToolResponse(format: ChatFormat, text: string, first: boolean, last: boolean): string {
  const { user, compact, control } = format;
  if (compact) return renderUser(format, `<tool_response>${text}</tool_response>`);
  return `${first ? user[0] : '\n'}<tool_response>\n${asText(text, control)}\n</tool_response>${last ? user[1] : ''}`;
}

/** One tool call, as the model writes it. Arguments that are already a string are not changed, as in Qwen's template. */
export function renderToolCall({ compact }: ChatFormat, name: string, args: Record<string, unknown> | string): string {
  const body = `{"name": "${name}", "arguments": ${typeof args === 'string' ? args : toPythonJson(args)}}`;
  return TOOL_CALL_START + (compact ? body : `\n${body}\n`) + TOOL_CALL_END;
}

/** The text of an assistant message between the generation prompt and the token that ends the turn. */
export function renderAssistant(
  format: ChatFormat,
  content: string,
  calls: readonly { name: string; arguments: Record<string, unknown> | string }[],
): string {
  const said = format.trims ? content.trim() : content;
  return [said, ...calls.map((call) => renderToolCall(format, call.name, call.arguments))].filter((part) => part !== '').join('\n');
}

/** The text that the template adds after an assistant turn. It lacks the token that ends a turn if the model sampled this token itself. */
export function renderClosing({ agent, end }: ChatFormat, ended: boolean): string {
  return ended ? agent[1].slice(end.length) : agent[1];
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
   * 1 for the tokens that the model would write: content, tool-call markup, and the token that ends the turn. 0 for
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
  for (const { text, sampled } of renderPieces(tokenizer.format, conversation, thinking)) {
    const ids = tokenizer.encode(text);
    for (const id of ids) {
      rendered.tokens.push(id);
      rendered.lossMask.push(sampled ? 1 : 0);
    }
  }
  return rendered;
}

/**
 * The conversation as strings. `sampled` is true for strings that the model would write. Control tokens in messages are marked as text
 * (`asText`).
 */
export function renderPieces(
  format: ChatFormat,
  { messages, tools }: RenderableConversation,
  thinking = false,
): { text: string; sampled: boolean }[] {
  const pieces: { text: string; sampled: boolean }[] = [];
  const given = (text: string) => pieces.push({ text, sampled: false });
  const leading = messages[0]?.role === 'system' ? messages[0] : undefined;
  given(renderOpening(format, leading ? leading.content : null, tools ?? []));
  for (let i = leading ? 1 : 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === 'user') given(renderUser(format, message.content));
    else if (message.role === 'system') given(renderSystem(format, message.content));
    else if (message.role === 'tool') {
      const results = [message.content];
      while (messages[i + 1]?.role === 'tool') results.push(messages[++i]!.content);
      given(renderToolResponses(format, results));
    } else {
      const calls = (message.tool_calls ?? []).map((call) => call.function);
      const content = thinking ? message.content : withoutThoughts(message.content);
      given(generationPrompt(format, thinking));
      pieces.push({
        text:
          asText(withThinkBlock(renderAssistant(format, content, calls), thinking, message.reasoning_content ?? ''), format.control) +
          format.end,
        sampled: true,
      });
      given(renderClosing(format, true));
    }
  }
  return pieces.filter((piece) => piece.text !== '');
}

function withoutThoughts(content: string): string {
  const end = content.lastIndexOf(THINK_END);
  return end < 0 ? content : content.slice(end + THINK_END.length).replace(/^\n+/, '');
}
