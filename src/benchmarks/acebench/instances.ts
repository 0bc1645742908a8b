/** @file The objects of a task, one for each involved class, and the calls on them. */
import { type Arguments, bind, type Parameter, readSignature } from '../../python/arguments.ts';
import { loads } from '../../python/json.ts';
import { literalOf } from '../../python/literal.ts';
import type { Node } from '../../python/node.ts';
import { typeError } from '../../python/operations.ts';
import { readExpression } from '../../python/source.ts';
import { deepCopy, Dict, dict, PyError, type Value } from '../../python/values.ts';
import { resultText } from '../../python/text.ts';
import { type Api, type Language, loadPhone, PHONE_SIGNATURES, phoneMethods } from './classes/api.ts';
import { CLASSES } from './classes/index.ts';
import { throughJson } from './plain.ts';

/** Where the calls of a task happen. */
export interface Setting {
  language: Language;
  kind: Kind;
  involved: readonly string[];
  /** The config of each class. */
  config: Dict;
}

export const KINDS = ['multi_turn', 'multi_step'] as const;
export type Kind = (typeof KINDS)[number];

/** The attributes of a new object of each class. */
export type States = Readonly<Record<string, Readonly<Record<string, Value>>>>;

/** Upstream forgot the `f` of an f-string, so the result of a failed message is this text, taken apart into its characters. */
const FAILED: readonly string[] = [...'Error during execution: {str(e)}'];

/** The name before the first bracket of a text. */
const FIRST_NAME = /(?<![\p{L}\p{N}_])([a-zA-Z_][\p{L}\p{N}_]*)\s*(?=\()/u;

interface Method {
  /** The class that has the code, and the method: `BaseApi.turn_on_wifi`. */
  title: string;
  parameters: readonly Parameter[];
  run: Api['methods'][string];
}

export class Instances {
  readonly #objects = new Map<string, Record<string, Value>>();
  /** The methods by name. A method of several objects runs on all of them. */
  readonly #methods = new Map<string, Method[]>();

  constructor(
    private readonly setting: Setting,
    states: States,
  ) {
    const { language, involved, config } = setting;
    const text = (en: string, zh: string) => (language === 'zh' ? zh : en);
    for (const name of new Set(involved)) {
      const { phone, signatures, create } = CLASSES[name]!;
      const own = Object.fromEntries(Object.entries(states[name]!).map(([key, value]) => [key, deepCopy(value)]));
      if (phone) loadPhone(own, config.get('BaseApi') ?? new Dict());
      this.#objects.set(name, own);
      const context = { language, own, text };
      this.#add(name, signatures, create(context));
      if (phone) this.#add('BaseApi', PHONE_SIGNATURES, phoneMethods(context));
    }
  }

  #add(className: string, signatures: Readonly<Record<string, string>>, methods: Api['methods']): void {
    for (const [name, run] of Object.entries(methods)) {
      const method = { title: `${className}.${name}`, parameters: readSignature(signatures[name]!), run };
      this.#methods.set(name, [...(this.#methods.get(name) ?? []), method]);
    }
  }

  /**
   * Runs the calls of one message. The results are values as after JSON. In a multi-turn task, the first error ends the message; what
   * was changed stays.
   */
  run(calls: readonly string[]): { results: Value[]; failed: boolean; errors: number } {
    const returned: { value: Value }[] = [];
    let last: { value: Value } | undefined;
    let errors = 0;
    for (const call of calls) {
      try {
        for (const method of this.#methodsOf(call)) last = { value: invoke(method, call) };
        if (!last)
          throw new PyError('UnboundLocalError', "cannot access local variable 'func_call_result' where it is not associated with a value");
        // An unknown function gets the last result again.
        returned.push(last);
      } catch (cause) {
        if (!(cause instanceof PyError || cause instanceof RangeError)) throw cause;
        errors += 1;
        if (this.setting.kind === 'multi_turn') return { results: [...FAILED], failed: true, errors };
        returned.push({ value: `Error during execution: ${cause.message}` });
      }
    }
    // Objects that a result shows may have changed since.
    return { results: returned.map(({ value }) => parsed(resultText(value))), failed: false, errors };
  }

  /** The methods of the function that the call names. Empty if there is none. */
  #methodsOf(call: string): readonly Method[] {
    const found = FIRST_NAME.exec(call);
    const methods = found ? this.#methods.get(found[1]!) : undefined;
    if (!methods) return [];
    if (found!.index > 0) throw new PyError('NameError', `name '${call.slice(0, found!.index).split('.')[0]}' is not defined`);
    return methods;
  }

  /** All attributes of each object. */
  state(): Record<string, Record<string, Value>> {
    return Object.fromEntries(this.#objects);
  }

  /** The compared attributes of each object, as after JSON. */
  saved(): Dict[] {
    return [...this.#objects].map(([name, own]) =>
      dict({ [name]: dict(Object.fromEntries(CLASSES[name]!.saved.map((key) => [key, throughJson(own[key]!)]))) }),
    );
  }
}

function invoke({ title, parameters, run }: Method, text: string): Value {
  return run(...(bind(title, parameters, argumentsOf(text)) as Value[]));
}

/** The arguments of the text of a call. @throws {PyError} */
function argumentsOf(text: string): Arguments {
  let node: Node;
  try {
    node = readExpression(text);
  } catch (cause) {
    throw new PyError('SyntaxError', (cause as Error).message);
  }
  if (node.kind !== 'call') throw new PyError('SyntaxError', 'the text is no call');
  return {
    args: node.args.map(valueOf),
    keywords: new Map(
      node.keywords.map(({ name, value }) => {
        if (name === null) throw new PyError('SyntaxError', 'a call with ** is not supported');
        return [name, valueOf(value)];
      }),
    ),
  };
}

/** Only literals are evaluated, and calls of `dict`. */
function valueOf(node: Node): Value {
  if (node.kind !== 'call') return literalOf(node);
  const { of, args, keywords } = node;
  if (of.kind === 'name' && of.id === 'dict' && args.length === 0)
    return new Dict(keywords.map(({ name, value }) => [name, valueOf(value)] as const));
  throw of.kind === 'name'
    ? new PyError('NameError', `name '${of.id}' is not defined`)
    : typeError('a call inside a call needs the name of a function');
}

/** The value of a text that is JSON, or the text. */
function parsed(text: string): Value {
  try {
    return loads(text);
  } catch {
    return text;
  }
}
