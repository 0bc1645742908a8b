/** @file Decodes a message of the agent to texts of calls, as ACEBench does. */
import { callOf } from '../../python/call-tree.ts';
import { iterate } from '../../python/operations.ts';
import { readExpression } from '../../python/source.ts';
import { repr, str } from '../../python/text.ts';
import { Dict, PyError, typeName, type Value } from '../../python/values.ts';

/** Python refuses a first line that begins with white space, unless it is empty. */
const INDENTED = /^(?:[ \t\f]*(?:#[^\n]*)?\n)*[ \t\f]*[ \t](?=[^ \t\f#\n])/;

/**
 * The calls of a message as texts of Python source. A message without calls, such as `[OK]`, has an empty list.
 * @param skip whether other elements between the calls are left out. Otherwise they make the whole message wrong.
 * @throws if upstream cannot decode the message
 */
export function decode(message: string, skip = false): string[] {
  let text = message;
  if (text === '') throw new PyError('IndexError', 'string index out of range');
  if (text.startsWith(' ')) text = text.slice(1);
  if (!text.startsWith('[')) text = `[${text}`;
  if (!text.endsWith(']')) text = `${text}]`;
  text = text.replace(/^[[\]']+|[[\]']+$/g, '');
  if (INDENTED.test(text)) throw new PyError('IndentationError', 'unexpected indent');
  const node = readExpression(text);
  const parts = node.kind === 'tuple' || node.kind === 'list' ? node.items : node.kind === 'call' ? [node] : [];
  const calls = parts.flatMap((part) => {
    if (part.kind === 'call') return [callOf(part)];
    if (!skip) throw new PyError('ValueError', 'Element is not a function call');
    return [];
  });
  return calls.flatMap((call) => call.entries().map(([name, args]) => `${str(name)}(${argumentsText(args)})`));
}

/** Whether upstream can decode the message. */
export function isReadable(message: string): boolean {
  try {
    decode(message);
    return true;
  } catch {
    return false;
  }
}

/** Whether the message goes to the execution, and not to the user. */
export const isForExecution = (message: string): boolean => /\[[^\n]*\]/.test(message) && isReadable(message);

function argumentsText(args: Value): string {
  if (!(args instanceof Dict)) throw new PyError('AttributeError', `'${typeName(args)}' object has no attribute 'items'`);
  return args
    .entries()
    .map(([key, value]) => `${str(key)}=${valueText(value)}`)
    .join(', ');
}

/** Upstream takes a dict for a call inside the call: its first key is the name. */
function valueText(value: Value): string {
  if (!(value instanceof Dict)) return repr(value);
  const [name] = iterate(value);
  if (name === undefined) throw new PyError('IndexError', 'list index out of range');
  return `${str(name)}(${argumentsText(value.get(name)!)})`;
}
