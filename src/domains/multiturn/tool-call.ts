/** @file Calls of the eight classes, as texts of Python source and as calls of tools. */
import { bind, bound } from '../../python/arguments.ts';
import { loads } from '../../python/json.ts';
import { dumps, repr, str } from '../../python/text.ts';
import { Dict, dict, equal, PyError, type Value } from '../../python/values.ts';
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

/** Whether two calls are equal for the checkers: the same function, with arguments that Python finds equal. A default may be written out. */
export function sameCall(a: ToolCall, b: ToolCall): boolean {
  const parameters = parametersOf(a.name);
  if (a.name !== b.name || !parameters) return false;
  const values = (call: ToolCall) => bind(call.name, parameters, { args: [], keywords: keywordsOf(argumentsOf(call)) });
  try {
    const others = values(b);
    return values(a).every((value, i) => {
      const other = others[i];
      return value === undefined || other === undefined ? value === other : equal(value, other);
    });
  } catch (cause) {
    if (cause instanceof PyError) return false;
    throw cause;
  }
}

const keywordsOf = (args: Dict) => new Map(args.entries().map(([name, value]) => [str(name), value]));
