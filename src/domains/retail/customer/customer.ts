/**
 * @file The scripted customer: seeded rules that answer the agent's questions. Like every simulated user, it hears only the
 * agent's messages, so the agent can lie to it. The reward is computed from the database.
 */
import { Dice } from '../../../base/dice.ts';
import type { UserScenario } from '../../../records/task.ts';
import { hearable } from '../../../users/hearable.ts';
import { INTENTS, type ShopRequest, type ShopWish } from '../schema.ts';
import { readInstruction } from './instruction.ts';
import { type Heard, type Request, type ScenarioFor, SHOP, type Understanding, type WishFor } from './listening.ts';
import { PLAIN, type Wording } from './speech.ts';

/**
 * After `PATIENCE` useless replies, the customer leaves. It also leaves after `MAX_REPLIES` replies for one wish, plus
 * `MORE_REPLIES` for each further wish.
 */
const PATIENCE = 3;
const MAX_REPLIES = 12;
const MORE_REPLIES = 6;

/**
 * Makes the shop's customer of a scenario without tools. The scenario of an imported task contains only its text.
 * @throws if a wish is not one of the shop's
 */
export function scriptedCustomer(scenario: UserScenario, seed: number, wording: Wording = PLAIN): ScriptedCustomer<ShopRequest> {
  const told = scenario.benchmark ? { ...readInstruction(scenario.instruction), persona: scenario.persona } : scenario;
  checkIntents(told.wishes, INTENTS);
  const wishes = told.wishes as ShopWish[];
  return new ScriptedCustomer<ShopRequest>({ ...told, wishes }, seed, wording, SHOP);
}

/** @throws if the intent of a wish, or of the request that it replaces, is not in `known` */
export function checkIntents(wishes: UserScenario['wishes'], known: readonly string[]): void {
  for (const { intent } of wishes.flatMap((wish) => [wish, ...(wish.insteadOf ? [wish.insteadOf] : [])]))
    if (!known.includes(intent))
      throw new Error(`scenario.wishes.intent: '${String(intent)}' is unknown; expected one of ${known.join(', ')}`);
}

/** The state of one conversation. It depends only on the scenario, the seed and the agent's messages. `R`: the requests of the domain. */
export class ScriptedCustomer<R extends Request> {
  private readonly dice: Dice;
  /** Whether the customer tells facts before the agent asks for them. */
  private readonly tellsAll: boolean;
  private current = 0;
  private changedMind = false;
  private insisted = false;
  private ignored = 0;
  private replies = 0;
  /** The questions of the agent's last message. If it asks the same questions again, it does not listen. */
  private lastAsked = '';
  /** All questions about the current wish so far. A new question makes the customer patient again. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly scenario: ScenarioFor<R>,
    seed: number,
    private readonly wording: Wording<R>,
    private readonly ears: Understanding<R>,
  ) {
    this.dice = new Dice('scripted user', seed);
    const { persona, tellsAll } = scenario;
    this.tellsAll = tellsAll ?? (persona === 'upfront' || (persona !== 'on_request' && this.dice.chance(0.5)));
  }

  open(): string {
    const { scenario, dice } = this;
    const parts = [this.wording.greeting(dice)];
    if (this.tellsAll) parts.push(this.identify());
    const request = this.request;
    if (request) parts.push(this.wording.state(request, this.tellsAll, dice));
    else parts.push(scenario.instruction);
    return parts.filter(Boolean).join(' ');
  }

  reply(message: string): string {
    const text = hearable(message);
    this.replies += 1;
    const answer = this.answer(text, this.ears.listen(text));
    const most = MAX_REPLIES + MORE_REPLIES * Math.max(0, this.scenario.wishes.length - 1);
    if (this.ignored >= PATIENCE || (this.replies >= most && !answer.includes('###STOP###'))) return this.wording.giveUp(this.dice);
    return answer;
  }

  private get wish(): WishFor<R> | undefined {
    return this.scenario.wishes[this.current];
  }

  /** The current request. A customer who will change their mind first asks for `insteadOf`. */
  private get request(): R | undefined {
    return this.changedMind ? this.wish : (this.wish?.insteadOf ?? this.wish);
  }

  private answer(text: string, heard: Heard): string {
    const { dice, request } = this;
    if (heard.transferred) return this.wording.goodbye(dice);
    if (!request) return heard.open || heard.done ? this.wording.goodbye(dice) : this.ignore(this.wording.unknown(dice));
    if (heard.confirm) return this.confirm(text, heard, request);
    const identity = heard.asksEmail || heard.asksName;
    if (heard.done && !identity && !heard.facts.size) return this.settled(text, heard, request);
    if (heard.refused && !identity && !heard.facts.size) return this.refusal(heard);
    if (identity || heard.facts.size) return this.inform(heard, request);
    this.ignored += heard.open ? 0.5 : 1;
    return this.wording.state(request, this.tellsAll || this.ignored > 1, dice);
  }

  private confirm(text: string, heard: Heard, request: R): string {
    if (this.reported(text, heard, request)) {
      if (!this.ears.proposes(heard.rest)) return this.next(heard);
      this.advance();
      // After its last wish, the customer refuses everything that the agent proposes.
      return this.request ? this.confirm(heard.rest, { ...heard, claims: '' }, this.request) : this.wording.goodbye(this.dice);
    }
    if (this.wish?.insteadOf && !this.changedMind) return this.changeMind(this.wish);
    if (this.ears.matches(text, request)) {
      this.ignored = 0;
      return this.wording.yes(this.dice);
    }
    return this.ignore(this.wording.correct(request, this.dice), 0.5);
  }

  /**
   * Whether the agent reports the current request as done and asks about something else. An example: `Order #W1234567 has been
   * cancelled. Shall I … as well?`
   */
  private reported(text: string, { claims, rest }: Heard, request: R): boolean {
    if (!claims || (this.wish?.insteadOf && !this.changedMind)) return false;
    const own = String(this.ears.idOf(request));
    const claimed = this.ears.ids(claims);
    if (claimed.includes(own) && !this.ears.proposes(rest)) return true;
    if (this.ears.matches(text, request) || (claimed.length && !claimed.includes(own))) return false;
    const next = this.scenario.wishes[this.current + 1];
    if (next && this.ears.matches(rest, next.insteadOf ?? next)) return true;
    const ids = this.ears.ids(rest);
    return claimed.length > 0 && ids.length > 0 && !ids.includes(own);
  }

  /**
   * Handles a claim of success. The customer believes it, except if it names another order, or if it is about the request before
   * a change of mind.
   */
  private settled(text: string, heard: Heard, request: R): string {
    if (this.wish?.insteadOf && !this.changedMind) return this.changeMind(this.wish);
    const ids = this.ears.ids(text);
    const own = this.ears.idOf(request);
    if (ids.length && own && !ids.includes(own)) return this.ignore(this.wording.correct(request, this.dice));
    return this.next(heard);
  }

  private refusal(heard: Heard): string {
    if (this.scenario.persona === 'confused' && this.wish?.insteadOf && !this.changedMind) return this.changeMind(this.wish);
    if (this.scenario.persona === 'pushy' && this.wish?.impossible && !this.insisted) {
      this.insisted = true;
      return this.wording.insist(this.dice);
    }
    return this.next(heard);
  }

  private changeMind(wish: R): string {
    this.changedMind = true;
    return this.scenario.persona === 'confused' ? this.wording.rectify(wish, this.dice) : this.wording.change(wish, this.dice);
  }

  private advance(): void {
    this.current += 1;
    this.changedMind = this.insisted = false;
    this.lastAsked = '';
    this.asked.clear();
    this.ignored = 0;
  }

  /** Goes on with the next wish. A reserved customer leaves if the agent did not ask for more. */
  private next({ open }: Heard): string {
    this.advance();
    return this.request && (open || this.scenario.persona !== 'reserved')
      ? this.wording.also(this.request, this.tellsAll, this.dice)
      : this.wording.goodbye(this.dice);
  }

  private inform(heard: Heard, request: R): string {
    const { dice, scenario } = this;
    const topics = [heard.asksEmail && 'email', heard.asksName && 'name', ...heard.facts].filter(
      (topic): topic is string => topic !== false,
    );
    const { persona, wishes } = scenario;
    // A confused customer who is asked for the thing again checks its number once more.
    if (persona === 'confused' && heard.facts.has(this.ears.thing) && (this.tellsAll || this.asked.has(this.ears.thing))) {
      const wish = wishes[this.current];
      if (wish?.insteadOf && !this.changedMind) return this.changeMind(wish);
    }
    const asked = topics.join();
    const useful = topics.some((topic) => !this.asked.has(topic));
    if (asked === this.lastAsked) this.ignored += 1;
    this.lastAsked = asked;
    for (const topic of topics) this.asked.add(topic);
    const parts: string[] = [];
    if (heard.asksEmail && scenario.identity.email) parts.push(this.wording.email(scenario, dice));
    else if (heard.asksName) parts.push(this.knowsName ? this.wording.nameAndZip(scenario, dice) : this.wording.unknown(dice));
    else if (heard.asksEmail) parts.push(this.wording.noEmail(dice));
    if (heard.facts.size) parts.push(this.wording.answerFacts(request, heard.facts, dice));
    const answer = parts.filter(Boolean).join(' ');
    if (!answer) return this.ignore(this.wording.unknown(dice), 0.5);
    if (useful) this.ignored = 0;
    return answer;
  }

  private get knowsName(): boolean {
    const { first_name, last_name, zip } = this.scenario.identity;
    return Boolean(first_name && last_name && zip);
  }

  private identify(): string {
    if (this.scenario.identity.email) return this.wording.ownEmail(this.scenario, this.dice);
    return this.knowsName ? this.wording.nameAndZip(this.scenario, this.dice) : '';
  }

  private ignore(answer: string, weight = 1): string {
    this.ignored += weight;
    return answer;
  }
}
