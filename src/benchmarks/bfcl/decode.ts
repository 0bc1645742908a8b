/** @file Decodes what a model wrote to calls of Python source, as BFCL's handlers do. Every exception here ends the model's turn. */
import { callText } from '../../domains/multiturn/tool-call.ts';
import { loads } from '../../python/json.ts';
import { callOf } from '../../python/call-tree.ts';
import { itemOf } from '../../python/operations.ts';
import { readExpression } from '../../python/source.ts';
import { repr, str } from '../../python/text.ts';
import { checkHashable, Dict, PyError, typeName, type Value } from '../../python/values.ts';

/** An answer of a Qwen model, without its thoughts. */
export interface QwenAnswer {
  reasoning: string;
  /** The text after the thoughts. */
  text: string;
}

/** Splits the thoughts from an answer of a Qwen model. */
export function splitThoughts(answer: string): QwenAnswer {
  if (!answer.includes('</think>')) return { reasoning: '', text: answer };
  const parts = answer.split('</think>');
  const before = parts[0]!.replace(/\n+$/, '').split('<think>').at(-1)!;
  return { reasoning: before.replace(/^\n+/, ''), text: parts.at(-1)!.replace(/^\n+/, '') };
}

/** The blocks of Qwen's tool calls that are JSON, also those inside thoughts. */
export function qwenBlocks(text: string): Value[] {
  return [...text.matchAll(/<tool_call>\n([^]*?)\n<\/tool_call>/g)].flatMap(([, body]) => {
    try {
      return [loads(body!)];
    } catch {
      return [];
    }
  });
}

interface DecodedCall {
  name: string;
  args: Dict;
}

/** @param text the answer without thoughts @throws {PyError} or {SyntaxError} if a block is no call */
export function qwenCalls(text: string): DecodedCall[] {
  const blocks = qwenBlocks(text);
  if (blocks.some((block) => !(block instanceof Dict)))
    throw new PyError('ValueError', `Model did not return a list of function calls: ${text}`);
  return blocks.map((block) => decodedCall(itemOf(block, 'name'), itemOf(block, 'arguments')));
}

/** @param text the answer without thoughts @throws {PyError} or {SyntaxError} if a block is no call */
export const decodeQwen = (text: string): string[] => qwenCalls(text).map(({ name, args }) => callText(name, args));

/** @param calls the name and the JSON text of the arguments of each call @throws if the arguments are no JSON object */
export const toolsCalls = (calls: readonly { name: string; arguments: string }[]): DecodedCall[] =>
  calls.map((call) => decodedCall(call.name, call.arguments));

/** The same as texts of Python source. */
export const decodeTools = (calls: readonly { name: string; arguments: string }[]): string[] =>
  toolsCalls(calls).map(({ name, args }) => callText(name, args));

function decodedCall(name: Value, given: Value): DecodedCall {
  checkHashable(name);
  const args = typeof given === 'string' ? loads(given) : given;
  if (!(args instanceof Dict)) throw new PyError('AttributeError', `'${typeName(args)}' object has no attribute 'items'`);
  return { name: str(name), args };
}

/** @throws {PyError} or {SourceError} if the text is no list of calls */
export function decodePrompt(answer: string): string[] {
  let text = answer.replace(/^[`\n ]+|[`\n ]+$/g, '');
  if (!text.startsWith('[')) text = `[${text}`;
  if (!text.endsWith(']')) text = `${text}]`;
  const node = readExpression(text.trim().replace(/^'+|'+$/g, ''));
  if (node.kind === 'call') return [callOf(node)].map(written);
  if (node.kind !== 'list' && node.kind !== 'tuple' && node.kind !== 'set') throw new PyError('AttributeError', 'the answer is no list');
  return node.items
    .map((item) => {
      if (item.kind !== 'call') throw new PyError('AssertionError', '');
      return callOf(item);
    })
    .map(written);
}

const written = (call: Dict): string =>
  call
    .entries()
    .map(([name, args]) => `${str(name)}(${argumentsText(args as Dict)})`)
    .join('');

const argumentsText = (args: Dict) =>
  args
    .entries()
    .map(([key, value]) => `${str(key)}=${valueText(value)}`)
    .join(', ');

/** If all values of a dict are dicts, upstream treats the dict as a call. */
function valueText(value: Value): string {
  if (!(value instanceof Dict)) return repr(value);
  if (!value.values().every((child) => child instanceof Dict))
    return `{${value
      .entries()
      .map(([key, child]) => `'${str(key)}': ${valueText(child)}`)
      .join(', ')}}`;
  const [first] = value.entries();
  if (!first) throw new PyError('IndexError', 'list index out of range');
  return `${str(first[0])}(${argumentsText(first[1] as Dict)})`;
}
