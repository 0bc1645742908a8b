/** @file Binds the arguments of a call to the parameters of a function, as Python does. */
import { literalOf } from './literal.ts';
import { readExpression } from './source.ts';
import { ELLIPSIS, PyError, type Value } from './values.ts';

/** The arguments of a call. */
export interface Arguments {
  args: Value[];
  keywords: Map<string, Value>;
}

export interface Parameter {
  name: string;
  /** Absent if the argument is required. Null if all objects share the default. */
  usual?: { value: Value } | null;
}

/** The parameters of a signature, such as `a, b=1`. The default `...` is one that all objects share. */
export function readSignature(signature: string): Parameter[] {
  const node = readExpression(`f(${signature})`);
  if (node.kind !== 'call') throw new Error(`the signature is "${signature}": expected parameters`);
  return [
    ...node.args.map((arg) => ({ name: arg.kind === 'name' ? arg.id : '' })),
    ...node.keywords.map(({ name, value }) => {
      const usual = literalOf(value);
      return { name: name!, usual: usual === ELLIPSIS ? null : { value: usual } };
    }),
  ];
}

/** The arguments of a call by name, as far as they are given. @throws {PyError} TypeError for too many arguments */
export function bound(parameters: readonly Parameter[], { args, keywords }: Arguments): Map<string, Value> {
  if (args.length > parameters.length)
    throw new PyError('TypeError', `takes ${parameters.length + 1} positional arguments but ${args.length + 1} were given`);
  return new Map([...args.map((value, i) => [parameters[i]!.name, value] as const), ...keywords]);
}

/** Gives each parameter its argument. Undefined stands for a shared default. @throws {PyError} TypeError as Python's */
export function bind(method: string, parameters: readonly Parameter[], { args, keywords }: Arguments): (Value | undefined)[] {
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
