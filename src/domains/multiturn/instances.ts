/** @file The objects on which an entry's calls are made: one for each involved class. */
import { deepCopy, Dict, equal, PyError, type Value } from '../../python/values.ts';
import { bind, type Parameter, readSignature } from '../../python/arguments.ts';
import { resultText } from '../../python/text.ts';
import { readCall } from './call.ts';
import { type Api, Shared } from './classes/api.ts';
import { CLASSES } from './classes/index.ts';
import type { Tables } from './tables.ts';

const SIGNATURES = new Map(
  Object.entries(CLASSES).map(([className, { signatures }]) => [
    className,
    new Map(Object.entries(signatures).map(([name, text]) => [name, readSignature(text)])),
  ]),
);

/** The parameters of a method. Undefined if no class has it. */
export function parametersOf(method: string): readonly Parameter[] | undefined {
  for (const methods of SIGNATURES.values()) if (methods.has(method)) return methods.get(method);
  return undefined;
}

/** Where the calls of an entry happen. */
export interface Setting {
  involved: readonly string[];
  /** The config of each class. */
  config: Dict;
  longContext: boolean;
}

export class Instances {
  readonly #objects = new Map<string, Api>();
  /** The class of each method. */
  readonly #classOf = new Map<string, string>();

  constructor({ involved, config, longContext }: Setting, tables: Tables, shared = new Shared(tables)) {
    for (const className of involved) {
      const own = config.get(className);
      const context = { config: own instanceof Dict ? deepCopy(own) : new Dict(), tables, shared, longContext };
      this.#objects.set(className, CLASSES[className]!.create(context));
      for (const name of SIGNATURES.get(className)!.keys()) this.#classOf.set(name, className);
    }
  }

  /** Runs the text of a call and returns the text of its result. An error keeps what the call has changed before it. */
  run(text: string): { text: string; error: boolean } {
    try {
      return { text: resultText(this.#call(text)), error: false };
    } catch (cause) {
      if (cause instanceof PyError) return { text: `Error during execution: ${cause.message}`, error: true };
      // A directory that contains itself. Python stops there too.
      if (cause instanceof RangeError) return { text: 'Error during execution: maximum recursion depth exceeded', error: true };
      throw cause;
    }
  }

  #call(text: string): Value {
    const call = readCall(text, (name) => this.#classOf.has(name));
    const className = this.#classOf.get(call.name)!;
    const args = bind(`${className}.${call.name}`, SIGNATURES.get(className)!.get(call.name)!, call);
    return this.#objects.get(className)!.methods[call.name]!(...(args as Value[]));
  }

  /** The public attributes of each object. */
  state(): Record<string, Record<string, Value>> {
    return Object.fromEntries(
      [...this.#objects].map(([className, { attributes }]) => [
        className,
        Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.startsWith('_'))),
      ]),
    );
  }

  /** The first class whose public attributes differ, with their names. Null if all are equal. */
  differenceFrom(gold: Instances): { className: string; attributes: string[] } | null {
    const state = this.state();
    for (const [className, wanted] of Object.entries(gold.state())) {
      const attributes = Object.entries(wanted).flatMap(([name, value]) => (sameValue(state[className]![name]!, value) ? [] : [name]));
      if (attributes.length > 0) return { className, attributes };
    }
    return null;
  }
}

function sameValue(a: Value, b: Value): boolean {
  try {
    return equal(a, b);
  } catch (cause) {
    if (cause instanceof RangeError) return false;
    throw cause;
  }
}
