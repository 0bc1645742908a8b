/** @file Reads the calls that a model wrote as Python source, as BFCL and ACEBench do with Python's module `ast`. */
import { literalOf } from './literal.ts';
import type { Node } from './node.ts';
import { negate } from './operations.ts';
import { unparse } from './unparse.ts';
import { Dict, ELLIPSIS, PyError, Tuple, type Value } from './values.ts';

/**
 * The call as a dict of its name and its keyword arguments. Positional arguments are dropped, as upstream does.
 * @throws {PyError} if upstream cannot read an argument
 */
export function callOf({ of, keywords }: Node & { kind: 'call' }): Dict {
  const parts: string[] = [];
  let at: Node = of;
  while (at.kind === 'attribute') {
    parts.unshift(at.name);
    at = at.of;
  }
  if (at.kind === 'name') parts.unshift(at.id);
  return new Dict([[parts.join('.'), new Dict(keywords.map(({ name, value }) => [name, resolved(value)] as const))]]);
}

function resolved(node: Node): Value {
  switch (node.kind) {
    case 'constant':
      return node.value === ELLIPSIS ? '...' : node.value;
    case 'unary':
      // Upstream negates for every operator.
      if (node.of.kind !== 'constant') throw new PyError('AttributeError', 'the operand has no value');
      return negate(node.of.value);
    case 'list':
      return node.items.map(resolved);
    case 'tuple':
      return new Tuple(node.items.map(resolved));
    case 'dict':
      return new Dict(
        node.entries.map(({ key, value }) => {
          if (!key) throw new PyError('Exception', "Unsupported AST type: <class 'NoneType'>");
          return [resolved(key), resolved(value)];
        }),
      );
    case 'binary':
      return literalOf(node);
    case 'name':
      return node.id;
    case 'call':
      return node.keywords.length === 0 ? unparse(node) : callOf(node);
    case 'subscript':
      return `${unparse(node.of)}[${unparse(node.index)}]`;
  }
  throw new PyError('Exception', 'Unsupported AST type');
}
