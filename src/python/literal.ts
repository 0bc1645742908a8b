/** @file Evaluates literals of Python source, and the operators on them. Names and calls are not evaluated. */
import { escapeRegExp } from '../base/escape-reg-exp.ts';
import { fixed, int, power } from './conversions.ts';
import { add, divide, multiply, negate, subtract, toFloat } from './operations.ts';
import type { Node } from './node.ts';
import { readExpressionAt } from './source.ts';
import { repr, str } from './text.ts';
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
  if (op === '~' && typeof asNumber(value) === 'bigint') return -(asNumber(value) as bigint) - 1n;
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
      return typeof a === 'string' ? formatted(a, b) : wholeQuotient(a, b).rest;
    case '**':
      return power(a, b);
    case '|':
    case '&':
    case '^':
    case '<<':
    case '>>':
      return bits(op, a, b);
  }
  throw new PyError('ValueError', `the operator ${op} is not evaluated`);
}

/** The most bits by which an int is shifted to the left here. */
const MOST_BITS = 20_000n;

/** An operator on the bits of two ints. Two bools give a bool, except for a shift. */
function bits(op: '|' | '&' | '^' | '<<' | '>>', a: Value, b: Value): Value {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (typeof x !== 'bigint' || typeof y !== 'bigint') throw new PyError('TypeError', `unsupported operand types for ${op}`);
  if (op === '<<' || op === '>>') {
    if (y < 0n) throw new PyError('ValueError', 'negative shift count');
    if (op === '<<' && y > MOST_BITS) throw new PyError('MemoryError', `an int is shifted by more than ${MOST_BITS} bits`);
    return op === '<<' ? x << y : x >> y;
  }
  const result = op === '|' ? x | y : op === '&' ? x & y : x ^ y;
  return typeof a === 'boolean' && typeof b === 'boolean' ? result === 1n : result;
}

/** Python's `format % values`, with `%s`, `%r`, `%d`, `%f` and `%.Nf`. @throws {PyError} for other forms */
function formatted(format: string, values: Value): string {
  const given = values instanceof Tuple ? [...values.items] : [values];
  const text = format.replace(/%(?:\.(\d{1,3}))?(.?)/gs, (_, digits: string | undefined, kind: string) => {
    if (kind === '%' && digits === undefined) return '%';
    const value = given.shift();
    if (value === undefined) throw new PyError('TypeError', 'not enough arguments for format string');
    if (kind === 's' && digits === undefined) return str(value);
    if (kind === 'r' && digits === undefined) return repr(value);
    if (kind === 'd' && digits === undefined && asNumber(value) !== undefined) return str(int(value));
    if (kind === 'f' && asNumber(value) !== undefined) return fixed(value, Number(digits ?? 6));
    throw new PyError('ValueError', `the format "%${kind}" is not supported here for this value`);
  });
  if (given.length > 0) throw new PyError('TypeError', 'not all arguments converted during string formatting');
  return text;
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
  const found = new RegExp(`^[ \\t]*${escapeRegExp(name)}[ \\t]*(?::[^=\\n]+)?=(?!=)`, 'm').exec(source);
  return found && literalOf(readExpressionAt(source, found.index + found[0].length), names);
}
