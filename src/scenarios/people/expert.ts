/**
 * @file The demonstrator of every scenario. It knows the calls that solve its task, but says no fact that neither the customer nor a tool
 * has told. It asks for what it needs, reads before it writes, and reports what it did. A careful demonstrator proposes each write and
 * waits for a yes. A brisk one writes as soon as it knows enough.
 */
import { type Act, ALL_HABITS, type CreateExpert, type ExpertOptions } from '../../agent/acts.ts';
import { hash32 } from '../../base/random.ts';
import type { Domain } from '../../environments/types.ts';
import type { ChatMessage } from '../../records/conversation.ts';
import type { Json } from '../../records/json.ts';
import type { PersonFact, ScenarioPeople } from '../../records/scenario.ts';
import type { ToolCall } from '../../records/task.ts';
import { agreedTo, keyOf, type Notes, takeNotes } from './expert-notes.ts';
import { ExpertWords } from './expert-words.ts';
import { BeforeChange, peopleOf } from './told.ts';
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
  readonly actions: readonly ToolCall[];
  /** What differs between conversations with different seeds. */
  readonly #asksAll: boolean;
  readonly #checks: boolean;
  readonly #joint: boolean;
  readonly #before: BeforeChange;

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
    this.actions = task.actions;
    this.#before = new BeforeChange(people);
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

  #isWrite(call: ToolCall): boolean {
    return this.actions.some(({ name }) => name === call.name);
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
    if (changing && !missing.includes(changing)) return { step: 'ask', act: { say: words.askAgain(changing.ask[0] ?? changing.name) } };
    return this.#isWrite(call) ? { step: 'failed', act: { say: words.failed() } } : null;
  }

  /** The next read of a careful agent, and the questions that it needs. Null: nothing is left to read. */
  #read(notes: Notes, words: ExpertWords): Decision | null {
    const next = this.people.reads.map((read) => this.#now(read, notes)).find((read) => !notes.results.has(keyOf(read)));
    const needed = notes.missing.filter((fact) => fact.identifies === true || this.#asksAll || (next && uses(next, fact)));
    if (needed.length > 0) return this.#ask(needed, notes, words);
    if (this.#checks && !this.#isBrisk && next && notes.missing.length === 0 && !notes.unchanged) {
      const wish = this.#wish(notes);
      if (!notes.exchanges.some(({ said }) => said.includes(wish)) && notes.results.size === 0)
        return { step: 'check', act: { say: words.check(wish) } };
    }
    return next ? { step: 'read', act: { call: next } } : null;
  }

  #ask(facts: readonly PersonFact[], { exchanges }: Notes, words: ExpertWords): Decision {
    const asks = facts.map(({ ask, name }) => ask[0] ?? `the ${name.replaceAll('_', ' ')}`);
    const asked = exchanges.filter(({ said }) => plain(said).includes(plain(asks[0]!))).length;
    return asked < MOST_ASKED ? { step: 'ask', act: { say: words.ask(asks) } } : { step: 'failed', act: { say: words.withoutFacts() } };
  }

  #act(notes: Notes, words: ExpertWords): Decision {
    const { refuse } = this.people;
    const transfer = this.actions.find(({ name }) => this.domain.terminalTools.includes(name));
    if (refuse !== undefined && !(transfer && this.actions.length === 1)) return this.#refuse(refuse, notes, words);
    const open = this.actions.map((_, i) => i).filter((i) => !this.isDone(i, notes));
    const [write] = open;
    if (write === undefined) return this.report(notes, words);
    const call = this.#now(this.actions[write]!, notes);
    if (call.name === transfer?.name) return { step: 'write', write, act: { call } };
    if (notes.missing.length > 0) return this.#ask(notes.missing, notes, words);
    if (notes.results.get(keyOf(call)) === 'error') return { step: 'failed', act: { say: words.failed() } };
    if (notes.unchanged && this.people.reads.some((read) => this.#before.concerns(read))) {
      // The gold calls do not fit the value that the customer will change, so the agent repeats the wish instead of proposing them.
      const wish = this.#wish(notes);
      if (!agreedTo(notes, wish)) return { step: 'check', act: { say: words.check(wish) } };
    }
    if (this.#isBrisk || agreedTo(notes, this.proposal(write, notes))) return { step: 'write', write, act: { call } };
    const proposed = (this.#joint ? open : [write]).filter((i) => !this.domain.terminalTools.includes(this.actions[i]!.name));
    return { step: 'propose', write, act: { say: words.propose(proposed.map((i) => this.proposal(i, notes))) } };
  }

  /** Whether a write was carried out, as far as the agent can know. */
  isDone(write: number, notes: Notes): boolean {
    const outcome = notes.results.get(keyOf(this.#now(this.actions[write]!, notes)));
    return outcome === 'ok' || (outcome === 'timeout' && !this.#has('calls_again'));
  }

  proposal(write: number, { unchanged }: Notes): string {
    const text = this.people.proposals[write] ?? this.actions[write]!.name.replaceAll('_', ' ');
    return unchanged ? this.#before.text(text) : text;
  }

  /** A call with the values that the customer has told so far. */
  #now(call: ScenarioPeople['reads'][number], { unchanged }: Notes): ToolCall {
    return unchanged ? this.#before.call(call) : (call as ToolCall);
  }

  /** Says what was done. @param writes those that the agent says it made; default: all */
  report(notes: Notes, words: ExpertWords, writes = this.actions.map((_, i) => i)): Decision {
    const more = this.#tell(notes);
    const isReported =
      this.actions.length > 0 ? notes.since > 0 : notes.exchanges.some(({ said }) => more.every((text) => said.includes(text)));
    if (isReported && notes.exchanges.at(-1)!.answer !== '') return { step: 'close', act: { say: words.close() } };
    const acts = writes.map((write) => this.proposal(write, notes));
    return { step: 'report', act: { say: words.report(acts, more, this.#has('offers_more')) } };
  }

  #refuse(why: string, notes: Notes, words: ExpertWords): Decision {
    const said = notes.exchanges.filter((exchange) => plain(exchange.said).includes(plain(why).replace(/[.!?]$/, ''))).length;
    if (said > 2) return { step: 'close', act: { say: words.close() } };
    return { step: 'refuse', act: { say: words.refuse(why, said > 0, said > 0 ? [] : this.#tell(notes), this.#has('offers_more')) } };
  }

  /** What the agent must say. It says only what a tool or the customer has told. */
  #tell({ shown, heard }: Notes): string[] {
    return this.people.tell.flatMap((text) => {
      const values = text.match(/[\p{L}_-]*\d[\p{L}\d.:_-]*/gu) ?? [text];
      if (!values.every((value) => contains(`${shown}\n${heard}`, value.replace(/[.:]$/, '')))) return [];
      return sentence(/\s/.test(text.trim()) ? text : `${labelOf(text, shown)} is ${text}`);
    });
  }

  /** The customer's wish in the words of the agent. */
  #wish({ facts }: Notes): string {
    const says = facts.filter(({ identifies }) => !identifies).map(({ says }) => says.replace(/^(?:it is|it's) /i, ''));
    return toSecondPerson([this.people.wish.replace(/[.!?]$/, ''), ...says].join(', '));
  }
}

const uses = ({ arguments: args }: ToolCall, { value }: PersonFact): boolean => {
  const texts = (Array.isArray(value) ? value : [value]).map(text);
  return Object.values(args).some((arg) => (Array.isArray(arg) ? arg : [arg]).some((one) => texts.includes(text(one))));
};
const text = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The field of a result that has this value: `fee` for 12 in `{"fee":12}`. */
function labelOf(value: string, shown: string): string {
  const at = shown.search(new RegExp(`"?${value.replace(/[^\p{L}\p{N} ]/gu, '.')}"?(?=[,}\\]\\s]|$)`, 'u'));
  const field = /"(\w+)"\s*:\s*"?$/.exec(shown.slice(0, Math.max(0, at)))?.[1];
  return field ? `The ${field.replaceAll('_', ' ')}` : 'The answer';
}

const toSecondPerson = (said: string): string =>
  said
    .replace(/\bI am\b|\bI'm\b/g, 'you are')
    .replace(/\bI'd\b/g, 'you would')
    .replace(/\bI\b/g, 'you')
    .replace(/\bmy\b/gi, 'your')
    .replace(/\bme\b/g, 'you')
    .replace(/^(?:please|can you|could you) /i, 'I shall ');
