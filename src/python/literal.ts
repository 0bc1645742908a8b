/** @file Evaluates literals of Python source, and the operators on them. Names and calls are not evaluated. */
import { power } from './conversions.ts';
import { add, divide, multiply, negate, subtract, toFloat } from './operations.ts';
import type { Node } from './node.ts';
import { readExpressionAt } from './source.ts';
import { asNumber, Dict, PyError, PySet, Tuple, type Value } from './values.ts';

type Names = ReadonlyMap<string, Value>;

/**
 * The value of a literal. `set()` is an empty set.
 * @param names the values of names, such as those of earlier assignments
 * @throws {PyError} for anything that is no literal
 */
export function literalOf(node: Node, names: Names = new Map()): Value {
  const inner = (child: Node) => literalOf(child, names);
  switch (node.kind) {
    case 'constant':
      return node.value;
    case 'name': {
      const value = names.get(node.id);
      if (value === undefined) throw new PyError('NameError', `name '${node.id}' is not defined`);
      return value;
    }
    case 'list':
      return node.items.map(inner);
    case 'tuple':
      return new Tuple(node.items.map(inner));
    case 'set':
      return new PySet(node.items.map(inner));
    case 'dict':
      return new Dict(
        node.entries.map(({ key, value }) => {
          if (!key) throw new PyError('ValueError', 'a dict with ** is no literal');
          return [inner(key), inner(value)];
        }),
      );
    case 'unary':
      return unary(node.op, inner(node.of));
    case 'binary':
      return binary(node.op, inner(node.left), inner(node.right));
    case 'call':
      if (node.of.kind === 'name' && node.of.id === 'set' && node.args.length + node.keywords.length === 0) return new PySet();
  }
  throw new PyError('ValueError', 'expected a literal');
}

function unary(op: string, value: Value): Value {
  if (op === '-') return negate(value);
  if (op === '+') return negate(negate(value));
  throw new PyError('ValueError', `the operator ${op} is not evaluated`);
}

function binary(op: string, a: Value, b: Value): Value {
  switch (op) {
    case '+':
      return add(a, b);
    case '-':
      return subtract(a, b);
    case '*':
      return multiply(a, b);
    case '/':
      return divide(a, b);
    case '//':
      return wholeQuotient(a, b).quotient;
    case '%':
      return wholeQuotient(a, b).rest;
    case '**':
      return power(a, b);
  }
  throw new PyError('ValueError', `the operator ${op} is not evaluated`);
}

/** Python's `divmod` of two numbers: the rest has the sign of the divisor. */
function wholeQuotient(a: Value, b: Value): { quotient: Value; rest: Value } {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x === undefined || y === undefined) throw new PyError('TypeError', 'unsupported operand types for // or %');
  if (y == 0) throw new PyError('ZeroDivisionError', 'integer division or modulo by zero');
  if (typeof x === 'bigint' && typeof y === 'bigint') {
    const rest = x % y;
    const wrong = rest !== 0n && rest < 0n !== y < 0n;
    return { quotient: x / y - (wrong ? 1n : 0n), rest: wrong ? rest + y : rest };
  }
  const [top, bottom] = [toFloat(x), toFloat(y)];
  const rest = top % bottom;
  const own = rest !== 0 && rest < 0 !== bottom < 0 ? rest + bottom : rest;
  return { quotient: Math.round((top - own) / bottom), rest: own };
}

/**
 * Finds `name = …` in source text and evaluates the right side, wherever it is. Null if there is none.
 * @throws {PyError} or {SourceError} if the right side is no literal
 */
export function assigned(source: string, name: string, names?: Names): Value | null {
  const found = new RegExp(`^[ \\t]*${name}[ \\t]*(?::[^=\\n]+)?=(?!=)`, 'm').exec(source);
  return found && literalOf(readExpressionAt(source, found.index + found[0].length), names);
}
