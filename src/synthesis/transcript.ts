/** @file A conversation as a judge reads it: as data, without marks that a model could take for the structure of its own prompt. */
import type { ChatMessage } from '../records/conversation.ts';

/**
 * The text on one line. Angle brackets become ‹ and ›, so that no chat template or prompt knows them as marks. Bracketed marks such as
 * [INST] become (INST), and characters that nobody sees become \u{…}.
 */
export const neutral = (text: string): string =>
  text
    .replace(/[<＜]/g, '‹')
    .replace(/[>＞]/g, '›')
    .replace(/[｜¦]/g, '|')
    .replace(/\[(\/?[A-Z][A-Z_]+)\]/g, '($1)')
    .replace(/`{3,}|~{3,}/g, "'''")
    .replace(/\s+/g, ' ')
    .replace(/(?! )[\p{C}\p{Zl}\p{Zp}]/gu, (own) => `\\u{${own.codePointAt(0)!.toString(16)}}`)
    .trim();

/** The text for the comparison with a quote: neither case, nor the kind of quotation marks, nor white space counts. */
export const comparable = (text: string): string =>
  neutral(text)
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’‚]/g, "'")
    .toLowerCase();

const SPEAKERS: Record<ChatMessage['role'], string> = { system: 'system', user: 'customer', assistant: 'agent', tool: 'result' };

/** What a message says, calls included. */
export function saidIn({ content, tool_calls: calls = [] }: Pick<ChatMessage, 'content' | 'tool_calls'>): string {
  const made = calls.map(({ function: { name, arguments: args } }) => `${name}(${typeof args === 'string' ? args : JSON.stringify(args)})`);
  return [...(content.trim() === '' ? [] : [content]), ...made].join(' ');
}

/** One line for each message: its index, who speaks, and what is said. System messages stand elsewhere in the prompt. */
export const transcriptLines = (messages: readonly ChatMessage[]): string[] =>
  messages.flatMap((message, i) => {
    if (message.role === 'system') return [];
    const calls = (message.tool_calls ?? []).length > 0;
    return [`[${i}] ${SPEAKERS[message.role]}${calls ? ' calls' : ''}: ${neutral(saidIn(message))}`];
  });
