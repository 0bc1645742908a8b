/** @file Reads the content of a message: a text, a list of parts as OpenAI, Anthropic and Inspect write them, or nothing. */
import { isObject } from '../base/json.ts';
import { toPythonJson } from './python-json.ts';

export interface MessageContent {
  text: string;
  /** The thoughts in parts of their own. Empty if there are none. */
  thoughts: string;
}

/**
 * @param value a text, a list of parts, or null. The results of some tools are other JSON, which becomes its text.
 * @param note is told of parts that are not text. Such a part becomes its type, such as `[image]`.
 */
export function readContent(value: unknown, note?: (line: string) => void): MessageContent {
  if (value === undefined || value === null) return { text: '', thoughts: '' };
  if (typeof value === 'string') return { text: value, thoughts: '' };
  const parts = Array.isArray(value) ? value.filter((part) => part !== null) : [value];
  if (!parts.every(isPart)) return { text: toPythonJson(value), thoughts: '' };
  const texts: string[] = [];
  const thoughts: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else if (isThought(part)) thoughts.push(textOf(part) ?? '');
    else {
      const text = textOf(part);
      if (text === undefined) note?.(`a part of type ${String(part.type).slice(0, 40)} is not text and becomes ${placeholder(part)}`);
      texts.push(text ?? `${texts.length > 0 ? '\n' : ''}${placeholder(part)}`);
    }
  }
  return { text: texts.join(''), thoughts: thoughts.filter((thought) => thought !== '').join('\n') };
}

type Part = string | Record<string, unknown>;

const isPart = (part: unknown): part is Part =>
  typeof part === 'string' || (isObject(part) && (typeof part.type === 'string' || typeof part.text === 'string'));

const isThought = ({ type }: Record<string, unknown>) => type === 'thinking' || type === 'reasoning' || type === 'redacted_thinking';

/** The text of a part, whatever its field is called. */
const textOf = ({ text, thinking, reasoning, refusal }: Record<string, unknown>): string | undefined =>
  [text, thinking, reasoning, refusal].find((field): field is string => typeof field === 'string');

const placeholder = ({ type }: Record<string, unknown>) => `[${String(type).replace(/^input_|_url$/g, '')}]`;
