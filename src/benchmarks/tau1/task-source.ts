/** @file Reads the tasks of tau-bench as upstream keeps them: lists of `Task(…)` in Python files. The files are read as literals, never run. */
import { ImportError } from '../../exchange/import-error.ts';
import { SourceError } from '../../python/constants.ts';
import { literalOf } from '../../python/literal.ts';
import type { Node } from '../../python/node.ts';
import { readExpressionAt } from '../../python/source.ts';
import { Dict, PyError, Tuple, type Value } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';

const ASSIGNED = /^(\w*tasks\w*)[ \t]*(?::[^=\n]+)?=(?!=)/gim;
/** Statements that would change the list after its assignment. */
const CHANGED = /^[ \t]*\w*tasks\w*[ \t]*(?:\+=|\.(?:append|extend|insert|remove|pop)\b|\[)/im;
const CLASSES = ['Task', 'Action'];

/**
 * The tasks of a file, in the form of the JSON files.
 * @throws {ImportError} that names the file, the task and what was expected
 */
export function tasksOfSource(file: string, text: string): Json {
  const fail = (where: string, expected: string): never => {
    throw new ImportError(file, where, `${expected} (the file is read, and not run)`);
  };
  const found = [...text.matchAll(ASSIGNED)].at(-1);
  if (!found) return fail('', 'it has no list of tasks: expected TASKS = [Task(…), …]');
  const changed = CHANGED.exec(text.slice(found.index + found[0].length));
  if (changed) return fail(found[1]!, `the list is changed by ${changed[0].trim()}: expected one list [Task(…), …]`);
  let node: Node;
  try {
    node = readExpressionAt(text, found.index + found[0].length);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return fail(found[1]!, `it is not Python that is read here: ${error.message}`);
  }
  if (node.kind !== 'list' && node.kind !== 'tuple') return fail(found[1]!, 'it is no list: expected [Task(…), …]');
  return node.items.map((item, i) => {
    try {
      return taskOf(jsonOf(item));
    } catch (error) {
      if (!(error instanceof PyError || error instanceof SourceError)) throw error;
      return fail(`${found[1]}[${i}]`, error.message);
    }
  });
}

/** Older files have dictionaries, whose actions have `arguments` and which may lack `outputs`. */
function taskOf(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new PyError('TypeError', 'expected Task(…) or a dict');
  const { actions, outputs = [], ...rest } = value;
  if (!Array.isArray(actions)) throw new PyError('TypeError', 'expected a list of actions');
  const renamed = actions.map((action) =>
    action !== null && typeof action === 'object' && !Array.isArray(action) && 'arguments' in action && !('kwargs' in action)
      ? { ...action, kwargs: action.arguments! }
      : action,
  );
  return { ...rest, actions: renamed, outputs };
}

/** The JSON of a literal in which calls of `Task` and `Action` are objects. @throws {PyError} for anything else */
function jsonOf(node: Node): Json {
  if (node.kind === 'list' || node.kind === 'tuple') return node.items.map(jsonOf);
  if (node.kind === 'dict')
    return Object.fromEntries(
      node.entries.map(({ key, value }) => {
        const name = key && literalOf(key);
        if (typeof name !== 'string') throw new PyError('TypeError', 'expected a dict with texts as keys');
        return [name, jsonOf(value)];
      }),
    );
  if (node.kind !== 'call') return plain(literalOf(node));
  const name = node.of.kind === 'name' ? node.of.id : node.of.kind === 'attribute' ? node.of.name : '';
  if (!CLASSES.includes(name)) throw new PyError('ValueError', `there is a call of ${name || 'an expression'}: expected Task or Action`);
  if (node.args.length > 0 || node.keywords.some((own) => own.name === null))
    throw new PyError('TypeError', `${name} has arguments without names: expected ${name}(name=value, …)`);
  return Object.fromEntries(node.keywords.map((own) => [own.name!, jsonOf(own.value)]));
}

function plain(value: Value): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'bigint') {
    const number = Number(value);
    if (typeof value === 'bigint' ? Number.isSafeInteger(number) : Number.isFinite(number)) return number;
    throw new PyError('ValueError', `the number ${value} is too large`);
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Tuple) return value.items.map(plain);
  if (value instanceof Dict) throw new PyError('TypeError', 'expected a dict as a literal');
  throw new PyError('TypeError', 'expected a literal that JSON has');
}
