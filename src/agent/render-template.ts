/**
 * @file Renders a chat template of any origin within a budget. A template is a program: a loop over a huge `range`, or a text that doubles
 * itself, would fill the memory of the tab.
 */
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import { InputError } from '../base/input-error.ts';
import { fixedDate } from './fixed-date.ts';

/** The templates of Qwen3 and Llama 3.1 need fewer than 2,000 steps for a short conversation. */
const MOST_STEPS = 50_000;
const LONGEST_TEXT = 1_000_000;
const LARGEST_NUMBER = 100_000;

class Bounded extends Interpreter {
  #steps = 0;

  override evaluate(...given: Parameters<Interpreter['evaluate']>): ReturnType<Interpreter['evaluate']> {
    this.#count(1);
    const result = super.evaluate(...given);
    const { value } = result as { value?: unknown };
    // A loop over a list may have an empty body, so the list counts.
    if (Array.isArray(value)) this.#count(value.length);
    if (typeof value === 'string' && value.length > LONGEST_TEXT) over(`a text of ${value.length} characters`, LONGEST_TEXT);
    if (typeof value === 'number' && Math.abs(value) > LARGEST_NUMBER) over(`the number ${value}`, LARGEST_NUMBER);
    return result;
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS) over(`more than ${MOST_STEPS} steps for a short conversation`, MOST_STEPS);
  }
}

function over(what: string, most: number): never {
  throw new InputError(`the chat template makes ${what}: expected at most ${most}`);
}

function range(first: number, end?: number, step?: number): number[] {
  const given = [first, end, step].filter((value): value is number => typeof value === 'number');
  const [from, to, by = 1] = given.length === 1 ? [0, given[0]!] : (given as [number, number, number?]);
  if (by === 0) throw new InputError('the chat template has a range with step 0');
  const length = Math.max(0, Math.ceil((to - from) / by));
  if (length > LARGEST_NUMBER) over(`a range of ${length}`, LARGEST_NUMBER);
  return Array.from({ length }, (_, i) => from + i * by);
}

/** A template with the interface of the library's `Template`. */
export class BoundedTemplate {
  readonly #program: ReturnType<typeof parse>;

  /** @throws InputError above the budget; the errors of the parser */
  constructor(template: string) {
    if (template.length > LONGEST_TEXT) over(`a text of ${template.length} characters`, LONGEST_TEXT);
    this.#program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
  }

  /** @throws InputError above the budget; the errors of the template itself */
  render(variables: Record<string, unknown>): string {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    return (new Bounded(environment).run(this.#program) as { value: string }).value;
  }
}

/** The variables and functions of every template. */
const GLOBALS = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
  range,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  strftime_now: fixedDate,
};
