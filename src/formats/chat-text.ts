/** @file Cuts the text of a whole chat into messages. Dumps of verl and TRL store a chat as one text. */
import { endOfJson } from '../base/tolerant-json.ts';
import type { ChatMessage } from '../records/conversation.ts';

const ROLES = ['system', 'user', 'assistant'] as const;
/** A line that is only the name of a role: without special tokens, `<|im_start|>user` becomes such a line. */
const ROLE_LINE = /(?:^|\n)(?:<\|im_start\|>)?(system|user|assistant)(?:\n|$)/g;
const MARKED_ROLE = /<\|im_start\|>(system|user|assistant)(?:\n|$)/g;

/**
 * The messages of a text in Qwen's template (ChatML), with or without its special tokens. Without special tokens, each line that is only
 * the name of a role begins a new message, even if the line was a part of a message. If the text has no roles, `prompt` is the user's
 * message and `completion` the assistant's.
 * @param prompt the text before the first sampled token
 * @param completion the text from the first sampled token on
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
    // If the conversation was cut, an empty assistant message at its end is only the generation prompt.
    if (role === 'assistant' && content === '' && i === heads.length - 1) continue;
    if (results) messages.push(...results.map((result): ChatMessage => ({ role: 'tool', content: result })));
    else messages.push({ role, content });
  }
  return messages;
}

const RESULT = /\s*<tool_response>\n?/y;
/** The end of a result. The tag alone may be a part of the result, so another result or the end of the message must follow. */
const RESULT_END = /\n?<\/tool_response>(?=\s*(?:<tool_response>|$))/g;

/** The tool results in a user message: Qwen's template puts them there. Null if the user wrote the message. */
function toolResults(content: string): string[] | null {
  const results: string[] = [];
  for (let at = 0; ;) {
    RESULT.lastIndex = at;
    const start = RESULT.exec(content);
    if (!start) return results.length > 0 ? results : null;
    const from = start.index + start[0].length;
    // The texts in a JSON result may hold any tag.
    RESULT_END.lastIndex = endOfJson(content, from) ?? from;
    const end = RESULT_END.exec(content);
    results.push(content.slice(from, end?.index));
    if (!end) return results;
    at = RESULT_END.lastIndex;
  }
}
