/** @file Calls of the eight classes, as texts of Python source and as calls of tools. */
import { bound } from '../../python/arguments.ts';
import { loads } from '../../python/json.ts';
import { dumps, repr, str } from '../../python/text.ts';
import { Dict, dict, PyError, type Value } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';
import type { ToolCall } from '../../records/task.ts';
import { readCall } from './call.ts';
import { parametersOf } from './instances.ts';
import { portable } from './portable.ts';

/** The text of a call in Python source. */
export const callText = (name: string, args: Dict, separator = ','): string =>
  `${name}(${args
    .entries()
    .map(([key, value]) => `${str(key)}=${repr(value)}`)
    .join(separator)})`;

/** The call of a text of Python source, with its arguments by name. Null if it is no call of a known function. */
export function toolCallOf(text: string): ToolCall | null {
  try {
    const call = readCall(text, (name) => parametersOf(name) !== undefined);
    return exactCall(call.name, dict(Object.fromEntries(bound(parametersOf(call.name)!, call))));
  } catch (cause) {
    if (cause instanceof PyError) return null;
    throw cause;
  }
}

/** A call that keeps Python's arguments. */
export const exactCall = (name: string, args: Dict): ToolCall => ({
  name,
  arguments: portable(args) as Record<string, Json>,
  exact: dumps(args),
});

/** The arguments of a call as Python's values. */
export function argumentsOf({ arguments: args, exact }: ToolCall): Dict {
  const value: Value = loads(exact ?? JSON.stringify(args));
  return value instanceof Dict ? value : new Dict();
}
