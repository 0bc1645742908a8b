/** @file The audit of what a customer states: facts that it cannot know, and facts that its scenario has otherwise. */
import type { CustomerFaultKind } from '../records/user.ts';
import type { UserScenario } from '../records/task.ts';
import { optionValuesIn, paymentsIn, reasonsIn, type ScenarioFacts } from '../domains/retail/customer/audit-scenario.ts';
import { orderIds } from '../domains/retail/customer/listening.ts';

export type Report = (kind: CustomerFaultKind, detail: string) => void;

const EMAIL = /[\w.+-]{1,64}@[\w.-]{1,255}/g;
const AMOUNT = /[$€£] ?\d[\d,]{0,15}(\.\d{1,2})?/g;
const NUMBER = /\d[\d,]{0,15}(\.\d{1,2})?/g;
const TOKEN = /[\p{L}\p{N}_]+/gu;
const NAMED =
  /\b(?:[Nn]ame(?: on the (?:order|account))? is|[Nn]ame:|I am|I['’]m|[Tt]his is|[Nn]ame of) {1,3}(\p{Lu}[\p{L}'-]{1,40}) {1,3}(\p{Lu}[\p{L}'-]{1,40})/gu;

const clean = (email: string) => email.toLowerCase().replace(/[.-]+$/, '');
const value = (amount: string) => Number(amount.replace(/[^\d.]/g, ''));
const sentences = (text: string) => text.split(/(?<=[.!?])\s|\n/);
const NEGATED = /\b(not|isn't|isn’t|never|don't|don’t|instead of|rather than|from|paid|currently|wrong)\b/i;
/** Whether a sentence only talks about a value, so that it states nothing. */
const isAside = (sentence: string) => NEGATED.test(sentence) || isQuestion(sentence);
const isQuestion = (sentence: string) => sentence.trimEnd().endsWith('?');

/** Words of a text with digits that identify something: order numbers, zip codes, ids, flight numbers. */
function idsIn(text: string): string[] {
  const words = text.replace(EMAIL, ' ').replace(AMOUNT, ' ').match(TOKEN) ?? [];
  return words.filter((word) => {
    const digits = word.replace(/\D/g, '').length;
    return digits >= 4 || (digits > 0 && /^[A-Z0-9]{6}$/.test(word) && /[A-Z]/.test(word));
  });
}

/** What the customer has been told so far: the scenario, and what the agent and the customer's own tools said. */
export class KnownFacts {
  readonly #words = new Set<string>();
  readonly #emails = new Set<string>();
  readonly #numbers = new Set<number>();

  learn(text: string): void {
    for (const email of text.match(EMAIL) ?? []) this.#emails.add(clean(email));
    for (const number of text.match(NUMBER) ?? []) this.#numbers.add(value(number));
    for (const word of text.toLowerCase().match(TOKEN) ?? []) for (const part of [word, ...word.split('_')]) this.#words.add(part);
  }

  /** The facts of a message that nobody told the customer, each with its kind in words. */
  unknownIn(text: string): string[] {
    const isUnknown = (word: string) => !this.#words.has(word) && !this.#words.has(`w${word}`) && !this.#words.has(word.replace(/^w/, ''));
    return [
      ...(text.match(EMAIL) ?? []).filter((email) => !this.#emails.has(clean(email))).map((email) => `the e-mail address ${clean(email)}`),
      ...(text.match(AMOUNT) ?? []).filter((amount) => !this.#numbers.has(value(amount))).map((amount) => `the amount ${amount}`),
      ...idsIn(text)
        .filter((id) => isUnknown(id.toLowerCase()) && !this.#numbers.has(Number(id)))
        .map((id) => `the number ${id}`),
      ...namesIn(text)
        .filter((name) => name.some((part) => isUnknown(part.toLowerCase())))
        .map((name) => `the name ${name.join(' ')}`),
    ];
  }
}

const namesIn = (text: string): [string, string][] => [...text.matchAll(NAMED)].map(([, first, last]) => [first!, last!]);

/** All texts of the scenario. */
export const scenarioText = (scenario: UserScenario): string => `${scenario.instruction} ${JSON.stringify(scenario)}`;

/** Reports each fact of a message that differs from the scenario's. */
export function reportContradictions(text: string, facts: ScenarioFacts, report: Report): void {
  const { identity, orders, zips, payments, reasons, options } = facts;
  const other = (field: string, said: string, own: Iterable<string>) =>
    report('contradicted', `The customer says ${field} ${said}; the scenario has ${[...own].join(' or ')}.`);
  for (const email of text.match(EMAIL) ?? [])
    if (identity.email && clean(email) !== identity.email.toLowerCase()) other('the e-mail address', clean(email), [identity.email]);
  const { first_name, last_name } = identity;
  for (const [first, last] of namesIn(text))
    if (first_name && last_name && (first.toLowerCase() !== first_name.toLowerCase() || last.toLowerCase() !== last_name.toLowerCase()))
      other('the name', `${first} ${last}`, [`${first_name} ${last_name}`]);
  for (const sentence of sentences(text)) {
    // “I do not need it” is no negation of a reason.
    for (const reason of reasons.size > 0 && !isQuestion(sentence) ? reasonsIn(sentence) : [])
      if (!reasons.has(reason)) other('the reason', `“${reason}”`, reasons);
    if (isAside(sentence)) continue;
    for (const id of orderIds(sentence)) if (orders.size > 0 && !orders.has(id)) other('the order', id, orders);
    if (identity.zip && /\b(zip|postal)\b/i.test(sentence))
      for (const zip of sentence.match(/\b\d{5}\b/g) ?? [])
        if (zip !== identity.zip && !zips.has(zip)) other('the zip code', zip, [identity.zip]);
    for (const kind of payments.size > 0 ? paymentsIn(sentence) : []) if (!payments.has(kind)) other('the payment method', kind, payments);
    const said = sentence.toLowerCase();
    for (const [option, wanted] of options) {
      const named = optionValuesIn(said, option);
      // A sentence with the wanted value can name the present value beside it.
      if (named.length > 0 && !named.some((name) => wanted.has(name))) other(`the ${option}`, named.join(' and '), wanted);
    }
  }
}

/** Whether a first message tells who the customer is and every fact of the first wish. */
export function tellsEverything(text: string, { identity, wishes }: UserScenario): boolean {
  const said = text.toLowerCase();
  const has = (fact: string | undefined) => fact !== undefined && said.includes(fact.toLowerCase());
  const { email, first_name, last_name, zip } = identity;
  const anyone = email === undefined && zip === undefined;
  if (!anyone && !has(email) && !(has(first_name) && has(last_name) && has(zip))) return false;
  const request = wishes[0]?.insteadOf ?? wishes[0];
  if (!request) return false;
  const { slots, words } = request;
  if (slots.order_id && !orderIds(text).includes(String(slots.order_id))) return false;
  if (slots.zip && !has(String(slots.zip))) return false;
  if (slots.reason && !reasonsIn(text).includes(String(slots.reason))) return false;
  if (words.payment && !paymentsIn(words.payment.join(' ')).every((kind) => paymentsIn(text).includes(kind))) return false;
  return (words.items ?? []).every(has);
}
