/**
 * @file The scripted customer of every scenario. It knows the facts of its task and hears only the agent's messages: no tool calls, no
 * results. The agent can lie to it. It says nothing that it does not know, and it always leaves after a bounded number of messages.
 */
import { Dice } from '../../base/dice.ts';
import type { Persona } from '../../records/conditions.ts';
import type { PersonFact, ScenarioPeople } from '../../records/scenario.ts';
import type { UserScenario } from '../../records/task.ts';
import { hearable } from '../../users/hearable.ts';
import { instructionIn } from '../../users/prompt.ts';
import type { CustomerScripts, PlayedCustomer } from '../../users/types.ts';
import { type Heard, listen } from './listening.ts';
import { factsBefore, peopleOf } from './told.ts';
import { heardFacts, plain } from './values.ts';
import { actsIn, namesOtherAct } from './verbs.ts';
import { PLAIN, sentence, VARIED, Wording } from './wording.ts';

/** The customer leaves after so many useless messages, or after so many messages in all. */
const PATIENCE = 3;
const MAX_REPLIES = 16;

export const customers: CustomerScripts = {
  customer(scenario, seed, { varied = false } = {}) {
    const people = peopleOf(scenario) ?? { ...UNKNOWN, wish: inFirstPerson(scenario.instruction) };
    return new ScenarioCustomer(people, scenario, seed, varied);
  },
  read: (prompt) => ({ persona: 'upfront', identity: {}, wishes: [], instruction: instructionIn(prompt) }),
  suggestions: ({ scenario }) => suggestions(scenario),
};

/** A customer of whom only a text is known says the text, and agrees to what the agent proposes. */
const UNKNOWN: Omit<ScenarioPeople, 'wish'> = { facts: [], reads: [], proposals: [], tell: [], tempts: [] };
const inFirstPerson = (text: string): string =>
  text
    .replace(/\byou are\b/gi, 'I am')
    .replace(/\byour\b/gi, 'my')
    .replace(/\byou\b/gi, 'I');

class ScenarioCustomer implements PlayedCustomer {
  readonly #words: Wording;
  readonly #persona: Persona;
  /** Whether the customer tells facts before the agent asks for them. */
  readonly #tellsAll: boolean;
  /** The verbs of what the customer wants. Empty: any act fits. */
  readonly #acts: readonly string[];
  /** Verbs of what an agent might offer instead. */
  readonly #otherActs: readonly string[];
  #changed = false;
  #insisted = false;
  #useless = 0;
  #replies = 0;
  #asked = new Set<string>();
  #lastAsked = '';

  constructor(
    private readonly people: ScenarioPeople,
    { persona, tellsAll }: UserScenario,
    seed: number,
    varied: boolean,
  ) {
    const dice = new Dice('scenario customer', seed);
    this.#words = new Wording(dice, varied ? VARIED : PLAIN);
    this.#persona = persona;
    this.#tellsAll = tellsAll ?? (persona === 'upfront' || (persona !== 'on_request' && dice.chance(0.5)));
    this.#acts = people.facts.length > 0 ? ownActs(people) : [];
    this.#otherActs = people.tempts
      .flatMap(({ name }) => name.split('_')[0]!.toLowerCase())
      .filter((verb) => !/^(?:get|list|find|search|transfer)$/.test(verb));
  }

  open(): string {
    return `${this.#words.say('greeting')} ${this.#statement(this.#tellsAll)}`;
  }

  hear(message: string): { say: string } {
    this.#replies += 1;
    const say = this.#answer(hearable(message));
    const leaves = this.#useless >= PATIENCE || this.#replies >= MAX_REPLIES;
    return { say: leaves && !say.includes('###') ? this.#words.leave('giveUp') : say };
  }

  get #facts(): readonly PersonFact[] {
    return this.#changed ? this.people.facts : factsBefore(this.people);
  }

  get #willChange(): boolean {
    return this.people.change !== undefined && !this.#changed;
  }

  /** Whether the customer wants nothing to be changed: the task has no writes, and no rule forbids the wish. */
  get #onlyAsks(): boolean {
    const { facts, proposals, refuse } = this.people;
    return facts.length > 0 && proposals.length === 0 && refuse === undefined;
  }

  #isOtherAct(said: string): boolean {
    return this.#acts.length > 0 && namesOtherAct(said, this.#acts, this.#otherActs);
  }

  #statement(all: boolean): string {
    return [sentence(this.people.wish), all ? this.#words.facts(this.#facts) : ''].filter(Boolean).join(' ');
  }

  #answer(text: string): string {
    const heard = listen(text, this.#facts);
    if (heard.transferred) return this.#words.leave('goodbye');
    if (this.#onlyAsks && this.#isAnswered(text, heard)) return this.#words.leave('goodbye');
    if (heard.proposal !== null) return this.#decide(text, heard);
    if (heard.claims !== null && heard.asked.length === 0) return this.#believe(heard);
    if (heard.refused && heard.asked.length === 0) return this.#accept();
    if (heard.asked.length > 0) return this.#inform(heard);
    if (heard.open) return this.#spend(0.5, this.#statement(this.#tellsAll || this.#useless > 0));
    if (heard.busy) return this.#spend(0.5, this.#words.say('agreed'));
    if (heard.asks) return this.#spend(0.5, this.#words.say('unknown'));
    return this.#spend(1, this.#useless > 0 ? this.#statement(true) : this.#words.say('lost'));
  }

  /** Whether a message tells something new to a customer who only wants to know something. The customer cannot know whether it is true. */
  #isAnswered(text: string, { asked, busy, refused }: Heard): boolean {
    if (asked.length > 0 || busy) return false;
    const told = plain(text)
      .split(/(?<=[.!?])\s|\n/)
      .filter((said) => !said.includes('?'));
    return (
      refused ||
      told.some((said) => (said.match(/\d+(?:[.:]\d+)*/g) ?? []).some((number) => !this.#facts.some(({ says }) => says.includes(number))))
    );
  }

  /** Answers a question for a yes. */
  #decide(text: string, { proposal, asked }: Heard): string {
    if (this.#willChange) return this.#change();
    const wrong = this.#wrong(proposal!, text);
    if (wrong.length > 0) return this.#spend(0.5, `${this.#words.say('no')} ${this.#words.facts(wrong)}`);
    const isOther = this.#onlyAsks ? actsIn(plain(proposal!)).length > 0 : this.#isOtherAct(plain(proposal!));
    if (isOther) return this.#spend(0.5, `${this.#words.say('no')} ${this.#statement(true)}`);
    this.#useless = 0;
    const facts = this.#facts.filter(({ name }) => asked.includes(name));
    return [this.#words.say('yes'), this.#words.facts(facts)].filter(Boolean).join(' ');
  }

  /** The facts for which the agent states another value. What the question leaves open, the rest of the message can say. */
  #wrong(proposal: string, text: string): PersonFact[] {
    const accepted = this.#changed || !this.people.change ? this.people.proposals.join(' ') : '';
    const [asked, said] = [heardFacts(proposal, this.#facts, accepted), heardFacts(text, this.#facts, accepted)];
    return this.#facts.filter(({ name }) => (asked.get(name) === 'absent' ? said : asked).get(name) === 'other');
  }

  /** Hears that something was done. The customer sees no records, so only wrong words make it doubt. */
  #believe({ claims, open, busy }: Heard): string {
    if (this.#willChange) return this.#change();
    const wrong = this.#wrong(claims!, claims!);
    if (wrong.length > 0) return this.#spend(1, `${this.#words.say('no')} ${this.#words.facts(wrong)}`);
    if (this.#isOtherAct(claims!)) return this.#spend(1, `${this.#words.say('no')} ${this.#statement(true)}`);
    if (busy && !open) return this.#spend(0.5, this.#words.say('agreed'));
    return this.#words.leave('goodbye');
  }

  /** Hears a no. A confused customer looks again, a pushy one insists, and one whose wish is possible says everything once more. */
  #accept(): string {
    if (this.#willChange && this.#persona === 'confused') return this.#change();
    if (this.#insisted) return this.#words.leave('goodbye');
    this.#insisted = true;
    if (this.#persona === 'pushy') return this.#words.say('insist');
    return this.people.refuse === undefined && this.#facts.length > 0 ? this.#statement(true) : this.#words.leave('goodbye');
  }

  #inform({ asked, refused }: Heard): string {
    const change = this.people.change?.name;
    // A confused customer who is asked again looks again.
    const again = change !== undefined && asked.includes(change) && (this.#tellsAll || this.#asked.has(change));
    if (this.#willChange && this.#persona === 'confused' && (again || (refused && asked.includes(change!)))) return this.#change();
    const isNew = asked.some((name) => !this.#asked.has(name));
    if (asked.join() === this.#lastAsked) this.#useless += 1;
    else if (isNew) this.#useless = 0;
    this.#lastAsked = asked.join();
    for (const name of asked) this.#asked.add(name);
    const facts = this.#facts.filter(({ name }) => asked.includes(name));
    return [this.#words.say('answer'), this.#words.facts(facts)].filter(Boolean).join(' ');
  }

  #change(): string {
    this.#changed = true;
    this.#useless = 0;
    const { says } = this.people.change!;
    return this.#persona === 'confused' ? `${this.#words.say('sorry')} ${sentence(says)}` : sentence(says);
  }

  /** Counts a message that did not help. @param weight how much of the customer's patience it costs */
  #spend(weight: number, answer: string): string {
    this.#useless += weight;
    return answer;
  }
}

/** The verbs of the proposals and of the wish. */
function ownActs({ wish, proposals, facts }: ScenarioPeople): string[] {
  const firsts = proposals.map((proposal) => /^(?:please )?([a-z]+)/i.exec(plain(proposal))?.[1] ?? '').filter(Boolean);
  const said = [wish, ...proposals, ...facts.map(({ says }) => says)].map(plain);
  return [...new Set([...firsts, ...said.flatMap((text) => actsIn(text))])];
}

/** Sentences for a visitor who plays the customer. */
function suggestions(scenario: UserScenario): string[] {
  const people = peopleOf(scenario);
  if (!people) return [];
  const words = new Wording(new Dice('suggestions', 0), PLAIN);
  const before = factsBefore(people);
  return [
    [words.say('greeting'), sentence(people.wish), words.facts(before)].filter(Boolean).join(' '),
    words.say('yes'),
    ...(people.change ? [sentence(people.change.says)] : []),
    `${words.say('no')} ${words.facts(people.facts)}`,
    words.say('unknown'),
  ];
}
