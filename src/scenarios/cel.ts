/**
 * @file Expressions of scenario files, in the Common Expression Language. An interpreter runs them, with limits on size and work, so that
 * a file of a stranger can neither reach the program nor stop it.
 */
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { InputError, parserReason, shown } from '../base/input-error.ts';
import { unknownName } from '../base/did-you-mean.ts';
import type { Json } from '../records/json.ts';
import type { Cel } from '../records/scenario.ts';
import { FUNCTIONS } from './cel-functions.ts';
import { fromNative, type Native, readable } from './native.ts';

/** The values of the names in an expression. Whole numbers are bigints. */
export type Scope = Readonly<Record<string, Native>>;

const LIMITS = { maxAstNodes: 400, maxDepth: 32, maxListElements: 100, maxMapEntries: 50, maxCallArguments: 6 };
const MOST_CHARACTERS = 2000;
/** The steps of all loops in one evaluation. */
const MOST_STEPS = 100_000;
/** Macros that loop over a list. Their arguments after the first are evaluated once for each entry. */
const LOOPS = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);
const REFUSED: Readonly<Record<string, string>> = {
  matches: 'use contains, startsWith or endsWith',
  bind: 'use an entry of values instead',
};

/** The names of CEL's types. No variable can have them. */
export const CEL_TYPES = 'bool bytes double duration dyn int list map null_type optional string timestamp type uint'.split(' ');

type Program = ReturnType<Environment['parse']>;

const base = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS });
for (const [signature, run] of Object.entries(FUNCTIONS)) base.registerFunction(signature, run, { async: false } as object);
for (const [sign, run] of [
  ['+', (a: number, b: number) => a + b],
  ['-', (a: number, b: number) => a - b],
  ['*', (a: number, b: number) => a * b],
  ['/', (a: number, b: number) => a / b],
] as const)
  for (const [left, right] of ['int double', 'double int'].map((pair) => pair.split(' ')))
    base.registerOperator(`${left} ${sign} ${right}: double`, (a: number | bigint, b: number | bigint) => run(Number(a), Number(b)));

/** The steps of the evaluation that runs. Evaluations never overlap, because they are synchronous. */
let steps = 0;

/** The expressions of one file. Each is parsed once for each set of names. */
export class Expressions {
  private readonly environments = new Map<string, Environment>();
  private readonly programs = new Map<Cel, { names: readonly string[]; program: Program }[]>();

  /** @param file the name of the file, for messages */
  constructor(readonly file: string) {}

  /**
   * Parses an expression.
   * @param names what the expression may name; for a name with fields, these fields
   * @param path where the expression stands in the file
   * @throws InputError
   */
  check(cel: Cel, names: Readonly<Record<string, readonly string[] | null>>, path: string): void {
    const program = this.program(cel, Object.keys(names), path);
    const hidden = new Set<unknown>();
    walk(program.ast, (node) => {
      if (node.op === 'rcall' && LOOPS.has(node.args[0])) hidden.add(node.args[2][0]?.args);
    });
    walk(program.ast, (node) => {
      if (node.op !== '.') return;
      const [{ op, args: owner }, field] = node.args;
      const fields = op === 'id' && Object.hasOwn(names, owner) && !hidden.has(owner) ? names[owner] : null;
      if (fields && !fields.includes(field)) throw this.error(cel, path, unknownName(`name after "${owner as string}."`, field, fields));
    });
  }

  /** The value of an expression. @param scale how many times the usual size it may have @throws InputError if it fails or takes too long */
  native(cel: Cel, scope: Scope, path: string, scale?: number): Native {
    const program = this.program(cel, Object.keys(scope), path);
    steps = 0;
    let value: Native;
    try {
      value = program(scope) as Native;
    } catch (cause) {
      throw this.error(cel, path, summary(cause));
    }
    // An error inside `a || b` is dropped if the other side is true.
    if (steps > MOST_STEPS) throw this.error(cel, path, TOO_LONG);
    const fault = readable(value, scale);
    if (fault) throw this.error(cel, path, fault);
    return value;
  }

  /** The value of an expression as JSON. @throws InputError */
  json(cel: Cel, scope: Scope, path: string, scale?: number): Json {
    return fromNative(this.native(cel, scope, path, scale));
  }

  /** @throws InputError also if the value is neither true nor false */
  true(cel: Cel, scope: Scope, path: string): boolean {
    const value = this.native(cel, scope, path);
    if (typeof value !== 'boolean') throw this.error(cel, path, `the value is ${shown(value)}: expected true or false`);
    return value;
  }

  error(cel: Cel, path: string, reason: string): InputError {
    return new InputError(`${this.file}: ${path}: ${shown(cel, 200)}: ${reason}`);
  }

  private program(cel: Cel, names: readonly string[], path: string): Program {
    let known = this.programs.get(cel);
    if (!known) this.programs.set(cel, (known = []));
    // An expression has nearly always the same names. A text of them as a key would cost more than the evaluation.
    let own = known.find((one) => one.names.length === names.length && one.names.every((name, i) => name === names[i]));
    if (!own) known.push((own = { names, program: this.parse(cel, names, path) }));
    return own.program;
  }

  private parse(cel: Cel, names: readonly string[], path: string): Program {
    if (cel.length > MOST_CHARACTERS) throw this.error(cel, path, `has ${cel.length} characters: expected at most ${MOST_CHARACTERS}`);
    let program: Program;
    try {
      program = this.environment(names).parse(cel);
    } catch (cause) {
      throw this.error(cel, path, summary(cause));
    }
    walk(program.ast, (node) => {
      if (node.op !== 'rcall') return;
      const [name, , [, first]] = node.args;
      if (Object.hasOwn(REFUSED, name)) throw this.error(cel, path, `"${name}" cannot be used: ${REFUSED[name]}`);
      if (LOOPS.has(name) && first) countSteps(first);
    });
    const { valid, error } = program.check();
    if (!valid)
      throw this.error(cel, path, `${summary(error)}${/Unknown variable/.test(summary(error)) ? `; known: ${names.join(', ')}` : ''}`);
    return program;
  }

  private environment(names: readonly string[]): Environment {
    const key = names.join(' ');
    let environment = this.environments.get(key);
    if (!environment) {
      environment = base.clone();
      for (const name of names) environment.registerVariable(name, 'dyn');
      this.environments.set(key, environment);
    }
    return environment;
  }
}

const TOO_LONG = `needs more than ${MOST_STEPS} steps`;

type Evaluate = (this: ASTNode, ...rest: unknown[]) => unknown;

/** Counts each evaluation of the node. The interpreter sets a node's method `evaluate` when it first runs the node. */
function countSteps(node: ASTNode): void {
  let own = (node as unknown as { evaluate: Evaluate }).evaluate;
  const counted: Evaluate = function (...rest) {
    if (++steps > MOST_STEPS) throw new Error(TOO_LONG);
    return own.apply(node, rest);
  };
  Object.defineProperty(node, 'evaluate', { get: () => counted, set: (value: Evaluate) => (own = value) });
}

/** Calls `visit` for the nodes that stand in the expression. */
function walk(node: unknown, visit: (node: ASTNode) => void): void {
  if (Array.isArray(node)) return node.forEach((child) => walk(child, visit));
  if (typeof node !== 'object' || node === null || !('op' in node)) return;
  visit(node as ASTNode);
  walk((node as ASTNode).args, visit);
}

/** The reason in one line, without the quoted expression. */
const summary = (cause: unknown): string => (cause as { summary?: string })?.summary ?? parserReason(cause);
