/** @file Cuts one text of a whole chat into its messages. verl's and TRL's dumps have the chat as text. */
import type { ChatMessage } from '../records/conversation.ts';

const ROLES = ['system', 'user', 'assistant'] as const;
/** A line with the name of a role alone: what is left of `<|im_start|>user` without special tokens. */
const ROLE_LINE = /(?:^|\n)(?:<\|im_start\|>)?(system|user|assistant)(?:\n|$)/g;
const MARKED_ROLE = /<\|im_start\|>(system|user|assistant)(?:\n|$)/g;

/**
 * The messages of a text in Qwen's template (ChatML), with or without its special tokens. Without them, a line that is the name
 * of a role begins a message: so does such a line inside a message. A text without roles is what the user and the assistant said.
 * @param prompt the text before the first sampled token, `completion` the text from there on
 */
export function messagesOfText(prompt: string, completion: string): ChatMessage[] {
  const text = prompt + completion;
  const heads = [...text.matchAll(text.includes('<|im_start|>') ? MARKED_ROLE : ROLE_LINE)];
  if (heads.length === 0)
    return [
      { role: 'user', content: prompt },
      { role: 'assistant', content: completion },
    ];
  const messages: ChatMessage[] = [];
  for (const [i, head] of heads.entries()) {
    const role = ROLES.find((name) => name === head[1])!;
    const content = text
      .slice(head.index + head[0].length, heads[i + 1]?.index)
      .replace(/<\|(im_end|endoftext)\|>/g, '')
      .replace(/\n$/, '');
    const results = role === 'user' ? toolResults(content) : null;
    // The generation prompt at the end of a conversation that was cut is no message.
    if (role === 'assistant' && content === '' && i === heads.length - 1) continue;
    if (results) messages.push(...results.map((result): ChatMessage => ({ role: 'tool', content: result })));
    else messages.push({ role, content });
  }
  return messages;
}

/** Qwen's template gives tool results to the model as the user's message. Null if the message is the user's own. */
function toolResults(content: string): string[] | null {
  const results = [...content.matchAll(/<tool_response>\n?([^]*?)\n?<\/tool_response>/g)];
  return results.length > 0 && content.trimStart().startsWith('<tool_response>') ? results.map(([, result]) => result!) : null;
}
