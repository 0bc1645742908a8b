/** @file Calls of BFCL: texts of Python source, such as `cd(folder='a')`. Their arguments are literals, and nothing is run. */
import { negate } from '../../python/operations.ts';
import type { Node } from '../../python/node.ts';
import { readExpression } from '../../python/source.ts';
import { Dict, PyError, type Value } from '../../python/values.ts';

/** A call whose arguments are known. */
export interface ReadCall {
  name: string;
  args: Value[];
  keywords: Map<string, Value>;
}

const notLiteral = (what: string) =>
  new PyError(
    'ValueError',
    `${what} is not supported here: expected one call of a function, with numbers, strings, lists and dicts as arguments`,
  );

/** Upstream refuses these names. */
const REFUSED = ['kill', 'exit', 'quit', 'remove', 'unlink', 'popen', 'Popen', 'run'];
const BEFORE_BRACKET = /(?<![\p{L}\p{N}_])([a-zA-Z_][\p{L}\p{N}_]*)\s*(?=\()/gu;

/**
 * Reads the text of a call. Like upstream, it first deletes the spaces between a word and `(`, also inside strings. Upstream also
 * puts the name of a variable before each name of a method that is followed by `(`. In a string this would change the argument, so
 * such a call is refused.
 * @throws {PyError}
 */
export function readCall(text: string, isMethod: (name: string) => boolean): ReadCall {
  const own = text.replace(BEFORE_BRACKET, '$1');
  const before = own.split('(')[0]!;
  const named = before.includes('.') ? before.split('.')[1]! : before;
  if (REFUSED.includes(named)) throw new PyError('Exception', `Function call ${named} is not allowed.`);
  let node: Node;
  try {
    node = readExpression(own);
  } catch (cause) {
    throw new PyError('SyntaxError', (cause as Error).message);
  }
  if (node.kind !== 'call') throw notLiteral('an expression that is no call');
  if (node.of.kind !== 'name') throw notLiteral('a call of something without a plain name');
  const { id } = node.of;
  if (!isMethod(id)) throw new PyError('NameError', `name '${id}' is not defined`);
  const args = node.args.map(plainLiteral);
  const keywords = new Map(
    node.keywords.map(({ name, value }) => {
      if (name === null) throw notLiteral('**');
      return [name, plainLiteral(value)];
    }),
  );
  const rest = own.slice(own.indexOf('(') + 1);
  for (const [, word] of rest.matchAll(BEFORE_BRACKET)) if (isMethod(word!)) throw notLiteral(`a text with "${word}("`);
  return { name: id, args, keywords };
}

/** The value of a literal that JSON has too, or of a dict with any keys. @throws {PyError} for anything else */
function plainLiteral(node: Node): Value {
  switch (node.kind) {
    case 'constant':
      if (!node.plain) throw notLiteral('a string of several parts, with a prefix or with three quotes');
      return node.value;
    case 'list':
      return node.items.map(plainLiteral);
    case 'dict':
      return new Dict(
        node.entries.map(({ key, value }) => {
          if (key === null) throw notLiteral('**');
          return [plainLiteral(key), plainLiteral(value)];
        }),
      );
    case 'unary':
      if (node.op === '-' && node.of.kind === 'constant' && ['bigint', 'number'].includes(typeof node.of.value))
        return negate(plainLiteral(node.of));
      throw notLiteral(`the operator ${node.op}`);
    case 'name':
      throw new PyError('NameError', `name '${node.id}' is not defined`);
    default:
      throw notLiteral({ tuple: 'a tuple', set: 'a set', call: 'a call inside a call' }[node.kind as string] ?? 'an expression');
  }
}

export interface Parameter {
  name: string;
  /** Absent if the argument is required. Null if all objects share the default. */
  usual?: { value: Value } | null;
}

/** The parameters of a signature, such as `a, b=1`. The default `...` is one that all objects share. */
export function readSignature(signature: string): Parameter[] {
  const node = readExpression(`f(${signature.replace(/=\.\.\.,?/g, "=('shared',),")})`);
  if (node.kind !== 'call') throw new Error(`the signature is "${signature}": expected parameters`);
  return [
    ...node.args.map((arg) => ({ name: arg.kind === 'name' ? arg.id : '' })),
    ...node.keywords.map(({ name, value }) => ({ name: name!, usual: value.kind === 'tuple' ? null : { value: plainLiteral(value) } })),
  ];
}

/** The arguments of a call by name, as far as they are given. @throws {PyError} TypeError for too many arguments */
export function bound(parameters: readonly Parameter[], { args, keywords }: ReadCall): Map<string, Value> {
  if (args.length > parameters.length)
    throw new PyError('TypeError', `takes ${parameters.length + 1} positional arguments but ${args.length + 1} were given`);
  return new Map([...args.map((value, i) => [parameters[i]!.name, value] as const), ...keywords]);
}

/** Gives each parameter its argument. Undefined stands for a shared default. @throws {PyError} TypeError as Python's */
export function bind(method: string, parameters: readonly Parameter[], { args, keywords }: ReadCall): (Value | undefined)[] {
  const fail = (reason: string) => new PyError('TypeError', `${method}() ${reason}`);
  if (args.length > parameters.length) throw fail(`takes ${parameters.length + 1} positional arguments but ${args.length + 1} were given`);
  const given = new Map(args.map((value, i) => [parameters[i]!.name, value]));
  for (const [name, value] of keywords) {
    if (!parameters.some((one) => one.name === name)) throw fail(`got an unexpected keyword argument '${name}'`);
    if (given.has(name)) throw fail(`got multiple values for argument '${name}'`);
    given.set(name, value);
  }
  const missing = parameters.filter(({ name, usual }) => usual === undefined && !given.has(name)).map(({ name }) => `'${name}'`);
  if (missing.length > 0) {
    const names = missing.length < 3 ? missing.join(' and ') : `${missing.slice(0, -1).join(', ')}, and ${missing.at(-1)}`;
    throw fail(`missing ${missing.length} required positional argument${missing.length > 1 ? 's' : ''}: ${names}`);
  }
  return parameters.map(({ name, usual }) => (given.has(name) ? given.get(name) : usual?.value));
}
