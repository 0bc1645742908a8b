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
 * @param options.note is told of parts that are not text. Such a part becomes its type, such as `[image]`.
 * @param options.separator stands between the parts. Default: nothing, but a line break before a part that is not text.
 */
export function readContent(
  value: unknown,
  { note, separator }: { note?: (line: string) => void; separator?: string } = {},
): MessageContent {
  if (value === undefined || value === null) return { text: '', thoughts: '' };
  if (typeof value === 'string') return { text: value, thoughts: '' };
  const parts = Array.isArray(value) ? value.filter((part) => part !== null) : undefined;
  if (!parts?.every(isPart)) return { text: toPythonJson(value), thoughts: '' };
  const texts: string[] = [];
  const thoughts: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else if (isThought(part)) thoughts.push(textOf(part) ?? '');
    else {
      const text = textOf(part);
      if (text === undefined) note?.(`a part of type ${String(part.type).slice(0, 40)} is not text and becomes ${placeholder(part)}`);
      const before = texts.length > 0 && separator === undefined ? '\n' : '';
      texts.push(text ?? `${before}${placeholder(part)}`);
    }
  }
  return { text: texts.join(separator ?? ''), thoughts: thoughts.filter((thought) => thought !== '').join('\n') };
}

type Part = string | Record<string, unknown>;

/** Whether an entry is a part of a content. A row of a tool's result may have a text among its fields. */
const isPart = (part: unknown): part is Part =>
  typeof part === 'string' || (isObject(part) && (typeof part.type === 'string' || hasOnlyText(part)));

const hasOnlyText = (part: Record<string, unknown>): boolean =>
  typeof part.text === 'string' && Object.entries(part).every(([key, field]) => key === 'text' || field === null);

const isThought = ({ type }: Record<string, unknown>) => type === 'thinking' || type === 'reasoning' || type === 'redacted_thinking';

/** The text of a part, whatever its field is called. */
const textOf = ({ text, thinking, reasoning, refusal }: Record<string, unknown>): string | undefined =>
  [text, thinking, reasoning, refusal].find((field): field is string => typeof field === 'string');

const placeholder = ({ type }: Record<string, unknown>) => `[${String(type).replace(/^input_|_url$/g, '')}]`;
