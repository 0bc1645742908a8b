/** @file The compact prompt of multi-turn tasks, for models whose context is too short for the documents of all functions. */
import { repr } from '../../python/text.ts';
import { isObject } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { ToolSchema } from '../../records/task.ts';

/** @param signatures such as `cd(folder: str)` */
export const compactPrompt = (signatures: readonly string[]): string =>
  `You can call these functions:
${signatures.join('\n')}
To call one, write
<tool_call>
{"name": "function", "arguments": {"name": "value"}}
</tool_call>
When all is done, answer in a few words.`;

/** The names and types of a function in Python's notation, without its description: `ls(a: bool = False)`. */
export function signatureOf({ function: { name, parameters } }: ToolSchema): string {
  const list = Object.entries(parameters.properties).map(([own, schema]) => {
    const { default: usual } = objectOf(schema);
    const type = `${own}: ${typeOf(schema)}`;
    return parameters.required.includes(own) ? type : `${type} = ${usual === undefined ? '...' : literalOf(usual)}`;
  });
  return `${name}(${list.join(', ')})`;
}

const TYPES: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', object: 'dict' };

function typeOf(schema: Json | undefined): string {
  const { type, items } = objectOf(schema);
  if (type === 'array') return items === undefined ? 'list' : `list[${typeOf(items)}]`;
  return TYPES[String(type)] ?? 'str';
}

/** A default as Python writes it. The documents of BFCL write None as a text. */
function literalOf(value: Json): string {
  if (value === null || value === 'None') return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' ? repr(value) : JSON.stringify(value);
}

const objectOf = (value: unknown): Record<string, Json> => (isObject(value) ? (value as Record<string, Json>) : {});
