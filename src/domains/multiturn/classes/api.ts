/** @file What all classes of BFCL have in common: their attributes, their methods and the state that they share. */
import { deepCopy, type Dict, dict, type Value } from '../../../python/values.ts';
import { defaultsOf, fillerOf, type Tables } from '../tables.ts';

export { f } from '../../../python/strings.ts';

/** An object of one of the classes. */
export interface Api {
  /** The attributes by name. Those whose names begin with `_` are private: the checker does not compare them. */
  attributes: Record<string, Value>;
  /** Each method gets a value for each of its parameters. Undefined stands for a default that all objects share. */
  methods: Record<string, (...args: Value[]) => Value>;
}

export interface ApiContext {
  /** The object's part of `initial_config`. It belongs to the object, which may change it. */
  config: Dict;
  tables: Tables;
  shared: Shared;
  longContext: boolean;
}

export interface ApiClass {
  /** For each method its parameters with their defaults, as in Python. A default `...` is one that all objects share. */
  signatures: Readonly<Record<string, string>>;
  create(context: ApiContext): Api;
}

/**
 * The module state of upstream: all objects of a process share it. Here, the objects of one check share it: those of the model
 * and those of the gold calls.
 */
export class Shared {
  /** The default of `post_tweet`'s `tags`. */
  readonly tags: Value[] = [];
  /** The default of `post_tweet`'s `mentions`. */
  readonly mentions: Value[] = [];
  readonly #copies = new Map<string, Value>();

  constructor(private readonly tables: Tables) {}

  /** A filler of the long context that objects can change. */
  filler<T extends Value>(name: string): T {
    let copy = this.#copies.get(name);
    if (copy === undefined) this.#copies.set(name, (copy = deepCopy(fillerOf(this.tables, name))));
    return copy as T;
  }
}

/** The result of a failed call. */
export const error = (message: Value): Dict => dict({ error: message });

/** The attributes, from the config or else from the defaults. */
export function attributesFrom({ config, tables }: ApiContext, className: string, names: readonly string[]): Record<string, Value> {
  const defaults = defaultsOf(tables, className);
  return Object.fromEntries(
    names.map((name) => {
      const own = config.get(name);
      return [name, own === undefined ? deepCopy(defaults.get(name) ?? null) : own];
    }),
  );
}

/** The seed of the object's random numbers. */
export const seedOf = ({ config, tables }: ApiContext, className: string, usual: bigint): bigint => {
  const seed = config.get('random_seed') ?? defaultsOf(tables, className).get('random_seed');
  return typeof seed === 'bigint' ? seed : usual;
};
