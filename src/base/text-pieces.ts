/**
 * @file Texts inside of markup. A chat template writes control tokens such as `<|im_end|>`. The same characters in a message, a policy
 * or a tool's result are only text, and must not become control tokens.
 *
 * `asText` marks them with the noncharacter U+FDD0 after their first character, and tokenizers encode them as text. Texts without
 * control tokens stay as they are.
 */
import { escapeRegExp } from './escape-reg-exp.ts';

const MARK = '\uFDD0';

const patterns = new WeakMap<readonly string[], { marked: RegExp; token: RegExp }>();

/** `marked` matches the first character of a control token, with its marks. `token` matches control tokens that are markup. */
function patternsOf(control: readonly string[]): { marked: RegExp; token: RegExp } {
  let known = patterns.get(control);
  if (!known) {
    const longest = control.filter((token) => [...token].length > 1).sort((a, b) => b.length - a.length);
    const firsts = new Set(longest.map((token) => [...token][0]!));
    const halves = [...firsts].map((first) => {
      const rests = longest.filter((token) => token.startsWith(first)).map((token) => escapeRegExp(token.slice(first.length)));
      return `${escapeRegExp(first)}${MARK}*(?=${rests.join('|')})`;
    });
    // A pattern without alternatives would match everywhere.
    known = {
      marked: new RegExp(halves.join('|') || '(?!)', 'g'),
      token: new RegExp(`(${longest.map(escapeRegExp).join('|') || '(?!)'})`),
    };
    patterns.set(control, known);
  }
  return known;
}

/** The text, so that a tokenizer encodes the control tokens in it as text. */
export const asText = (text: string, control: readonly string[]): string =>
  text.replace(patternsOf(control).marked, (start) => start + MARK);

/** The characters of a rendered conversation, without the marks of `asText`. */
export const plainText = (rendered: string, control: readonly string[]): string =>
  rendered.includes(MARK)
    ? rendered.replace(patternsOf(control).marked, (start) => (start.endsWith(MARK) ? start.slice(0, -1) : start))
    : rendered;

/**
 * The pieces of a rendered conversation in which a control token is only text: control tokens (`isMarkup`) and the texts between them.
 * Null if every control token is markup.
 */
export function piecesOf(rendered: string, control: readonly string[]): { text: string; isMarkup: boolean }[] | null {
  if (!rendered.includes(MARK)) return null;
  return rendered
    .split(patternsOf(control).token)
    .map((part, i) => (i % 2 === 1 ? { text: part, isMarkup: true } : { text: plainText(part, control), isMarkup: false }))
    .filter(({ text }) => text !== '');
}

/** The tokens that calls, results and thoughts are written with. They stay tokens in texts, also if a tokenizer lists them as control tokens. */
const TAGS = new Set(['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>', '</think>']);

/** An added token of a `tokenizer.json`. */
export interface AddedToken {
  content: string;
  special?: boolean;
}

/** Some tokenizers do not call all of their control tokens special, such as DeepSeek's `<｜User｜>`. */
const MARKUP = /^<[|｜].+[|｜]>$/s;

/** The control tokens of a tokenizer, and its other added tokens, which a tokenizer of texts has. */
export function splitAdded<T extends AddedToken>(added: readonly T[]): { control: string[]; others: T[] } {
  const isControl = ({ content, special }: T) => (special === true || MARKUP.test(content)) && !TAGS.has(content);
  return { control: added.filter(isControl).map(({ content }) => content), others: added.filter((token) => !isControl(token)) };
}
