/** @file Calls of BFCL: texts of Python source, such as `cd(folder='a')`. Their arguments are literals, and nothing is run. */
import type { Arguments } from '../../python/arguments.ts';
import { negate } from '../../python/operations.ts';
import type { Node } from '../../python/node.ts';
import { readExpression } from '../../python/source.ts';
import { Dict, PyError, type Value } from '../../python/values.ts';

/** A call whose arguments are known. */
export interface ReadCall extends Arguments {
  name: string;
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
  const repeated = node.keywords.find(({ name }, i) => name !== null && node.keywords.findIndex((one) => one.name === name) < i);
  if (repeated) throw new PyError('SyntaxError', `keyword argument repeated: ${repeated.name}`);
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
