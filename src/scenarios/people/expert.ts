/**
 * @file The demonstrator of every scenario. It knows the calls that solve its task, but says no fact that neither the customer nor a tool
 * has told. It asks for what it needs, reads before it writes, and reports what it did. A careful demonstrator proposes each write and
 * waits for a yes. A brisk one writes as soon as it knows enough.
 */
import { type Act, ALL_HABITS, type CreateExpert, type ExpertOptions } from '../../agent/acts.ts';
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { hash32 } from '../../base/random.ts';
import type { Domain } from '../../environments/types.ts';
import type { ChatMessage } from '../../records/conversation.ts';
import type { PersonFact, PlannedCall, ScenarioPeople } from '../../records/scenario.ts';
import type { ToolCall } from '../../records/task.ts';
import { agreedTo, keyOf, type Notes, takeNotes } from './expert-notes.ts';
import { ExpertWords } from './expert-words.ts';
import { inWords } from '../templates.ts';
import { peopleOf, type Plan, planBefore } from './told.ts';
import { contains, plain } from './values.ts';
import { sentence } from './wording.ts';

/** One decision of the demonstrator. `write` is the place of the write in the task's gold actions. */
export type Decision = { act: Act } & (
  { step: 'ask' | 'check' | 'read' | 'retry' | 'report' | 'refuse' | 'failed' | 'close' } | { step: 'propose' | 'write'; write: number }
);

/** A call is repeated so often during an outage. Then the demonstrator tells the truth. */
const MOST_RETRIES = 4;
const MOST_ASKED = 3;

export const createExpert: CreateExpert = (domain, seed, options = {}) => {
  const expert = new Demonstrator(domain, seed, options);
  return { act: (messages) => expert.decide(messages).act };
};

export class Demonstrator {
  readonly people: ScenarioPeople;
  /** What differs between conversations with different seeds. */
  readonly #asksAll: boolean;
  readonly #checks: boolean;
  readonly #joint: boolean;
  /** The plans before and after the customer changes a fact. */
  readonly #first: Plan;
  readonly #final: Plan;

  /** @throws if the task is missing, or has no facts for a demonstrator */
  constructor(
    private readonly domain: Domain,
    private readonly seed: number,
    private readonly options: ExpertOptions,
  ) {
    const { task } = options;
    const people = task && peopleOf(task.scenario);
    if (!people)
      throw new Error(`task: the demonstrator of '${domain.name}' needs a task with scenario.facts.people, as scenario files make them`);
    this.people = people;
    this.#first = planBefore(people, task.actions);
    this.#final = { ...people, actions: task.actions, fits: true };
    const share = (key: number) => hash32(seed, 0x5ce0, key) / 2 ** 32;
    this.#asksAll = share(0) < 0.5;
    this.#checks = share(1) < 0.25;
    this.#joint = share(2) < 0.5;
  }

  decide(messages: readonly ChatMessage[]): Decision {
    const notes = takeNotes(messages, this.people);
    const words = new ExpertWords(this.seed, messages.length);
    return this.#afterCall(notes, words) ?? this.#read(notes, words) ?? this.#act(notes, words);
  }

  get #isBrisk(): boolean {
    return this.options.style === 'brisk';
  }

  #has(habit: 'calls_again' | 'offers_more'): boolean {
    return (this.options.habits ?? ALL_HABITS).has(habit);
  }

  /** The plan for what the customer has told so far. */
  plan({ unchanged }: Pick<Notes, 'unchanged'>): Plan {
    return unchanged ? this.#first : this.#final;
  }

  #isWrite(call: ToolCall): boolean {
    return [...this.#first.actions, ...this.#final.actions].some(({ name }) => name === call.name);
  }

  /** What the answer to the last call demands. Null: nothing in particular. */
  #afterCall({ last, missing, facts, unchanged }: Notes, words: ExpertWords): Decision | null {
    if (!last) return null;
    const { call, outcome, repeated } = last;
    if (outcome === 'outage' && repeated < MOST_RETRIES) return { step: 'retry', act: { call } };
    if (outcome === 'outage') return { step: 'failed', act: { say: words.failed() } };
    if (outcome === 'timeout' && (!this.#isWrite(call) || this.#has('calls_again'))) return { step: 'retry', act: { call } };
    if (outcome !== 'error') return null;
    // The record is not found, because the customer mixed something up.
    const changing = unchanged ? facts.find(({ name }) => name === this.people.change!.name) : undefined;
    if (changing && !missing.includes(changing)) return { step: 'ask', act: { say: words.askAgain(questionFor(changing)) } };
    return this.#isWrite(call) ? { step: 'failed', act: { say: words.failed() } } : null;
  }

  /** The next read of a careful agent, and the questions that it needs. Null: nothing is left to read. */
  #read(notes: Notes, words: ExpertWords): Decision | null {
    const next = this.plan(notes).reads.find((read) => !notes.results.has(keyOf(read)));
    const needed = notes.missing.filter((fact) => fact.identifies === true || this.#asksAll || (next && uses(next, fact)));
    if (needed.length > 0) return this.#ask(needed, notes, words);
    if (this.#checks && !this.#isBrisk && next && notes.missing.length === 0 && !notes.unchanged) {
      const wish = this.#wish(notes);
      if (!notes.exchanges.some(({ said }) => said.includes(wish)) && notes.results.size === 0)
        return { step: 'check', act: { say: words.check(wish) } };
    }
    return next ? { step: 'read', act: { call: copied(next) } } : null;
  }

  #ask(facts: readonly PersonFact[], { exchanges }: Notes, words: ExpertWords): Decision {
    const asks = facts.map(questionFor);
    const asked = exchanges.filter(({ said }) => plain(said).includes(plain(asks[0]!))).length;
    return asked < MOST_ASKED ? { step: 'ask', act: { say: words.ask(asks) } } : { step: 'failed', act: { say: words.withoutFacts() } };
  }

  #act(notes: Notes, words: ExpertWords): Decision {
    const { refuse } = this.people;
    const { actions, proposals, fits } = this.plan(notes);
    const isTransfer = (write: number) => this.domain.terminalTools.includes(actions[write]!.name);
    if (refuse !== undefined && !actions.some((_, i) => isTransfer(i))) {
      // A tool may have shown the thing among others. Which one it is, only the customer can say.
      const unsaid = notes.missing.filter(({ value }) => contains(refuse, inWords(value)));
      return unsaid.length > 0 ? this.#ask(unsaid, notes, words) : this.#refuse(refuse, notes, words);
    }
    const open = actions.map((_, i) => i).filter((i) => !this.#isDone(actions[i]!, notes));
    const [write] = open;
    if (write === undefined) return this.report(notes, words);
    const call = copied(actions[write]!);
    if (isTransfer(write)) return { step: 'write', write, act: { call } };
    if (notes.missing.length > 0) return this.#ask(notes.missing, notes, words);
    if (notes.results.get(keyOf(call)) === 'error') return { step: 'failed', act: { say: words.failed() } };
    if (!fits && !agreedTo(notes, this.#wish(notes))) return { step: 'check', act: { say: words.check(this.#wish(notes)) } };
    if (this.#isBrisk || agreedTo(notes, proposals[write]!)) return { step: 'write', write, act: { call } };
    const proposed = (this.#joint ? open : [write]).filter((i) => !isTransfer(i));
    return { step: 'propose', write, act: { say: words.propose(proposed.map((i) => proposals[i]!)) } };
  }

  /** Whether a write was carried out, as far as the agent can know. */
  #isDone(write: PlannedCall, notes: Notes): boolean {
    const outcome = notes.results.get(keyOf(write));
    return outcome === 'ok' || (outcome === 'timeout' && !this.#has('calls_again'));
  }

  /** Says what was done. @param writes those that the agent says it made; default: all */
  report(notes: Notes, words: ExpertWords, writes = this.plan(notes).actions.map((_, i) => i)): Decision {
    // What must be told is about the final value.
    const more = notes.unchanged ? [] : this.#tell(notes);
    const { actions, proposals } = this.plan(notes);
    const isReported = actions.length > 0 ? notes.since > 0 : notes.exchanges.some(({ said }) => more.every((text) => said.includes(text)));
    if (isReported && notes.exchanges.at(-1)!.answer !== '') return { step: 'close', act: { say: words.close() } };
    return {
      step: 'report',
      act: {
        say: words.report(
          writes.map((write) => proposals[write]!),
          more,
          this.#has('offers_more'),
        ),
      },
    };
  }

  #refuse(why: string, notes: Notes, words: ExpertWords): Decision {
    const said = notes.exchanges.filter((exchange) => plain(exchange.said).includes(plain(why).replace(/[.!?]$/, ''))).length;
    if (said > 2) return { step: 'close', act: { say: words.close() } };
    return { step: 'refuse', act: { say: words.refuse(why, said > 0, said > 0 ? [] : this.#tell(notes), this.#has('offers_more')) } };
  }

  /** What the agent must say, as sentences. A bare value gets the name of the field of the last result that has it. */
  #tell({ shown }: Notes): string[] {
    const sentences = this.people.tell.map((text) =>
      sentence(/\s/.test(text.trim()) ? text : `${labelOf(text, shown.at(-1) ?? '')} is ${text}`),
    );
    return [...new Set(sentences)];
  }

  /** The facts of the wish, as the agent repeats them. */
  #wish({ facts }: Notes): string {
    return facts.flatMap(({ identifies, name, value }) => (identifies ? [] : `${name.replaceAll('_', ' ')} ${inWords(value)}`)).join(', ');
  }
}

/** How the agent asks for a fact: “which day”, “the team”. */
function questionFor({ ask, name }: PersonFact): string {
  const words = ask[0] ?? name.replaceAll('_', ' ');
  return /^(?:which|what|who|whose|where|when|how|why|whether|the|your|an?|if)\b/i.test(words) ? words : `the ${words}`;
}

export const copied = ({ name, arguments: args }: PlannedCall): ToolCall => ({ name, arguments: { ...args } });

/** Whether a call has the value of a fact. */
const uses = ({ arguments: args }: PlannedCall, { value }: PersonFact): boolean => {
  const texts = (Array.isArray(value) ? value : [value]).map(inWords);
  return Object.values(args).some((arg) => (Array.isArray(arg) ? arg : [arg]).some((one) => texts.includes(inWords(one))));
};

/** The field of a result that has this value: `fee` for 12 in `{"fee":12}`. */
function labelOf(value: string, shown: string): string {
  const field = new RegExp(`"(\\w+)"\\s*:\\s*"?${escapeRegExp(value)}"?\\s*[,}\\]]`).exec(shown)?.[1];
  return field ? `The ${field.replaceAll('_', ' ')}` : /^\d/.test(value) ? 'The amount' : 'The answer';
}
