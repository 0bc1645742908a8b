/** @file Audits the statements of a customer: finds facts that nobody told it. */
import type { CustomerFaultKind } from '../records/user.ts';
import type { UserScenario } from '../records/task.ts';

export type Report = (kind: CustomerFaultKind, detail: string) => void;

export const EMAIL = /[\w.+-]{1,64}@[\w.-]{1,255}/g;
const AMOUNT = /[$€£] ?\d[\d,]{0,15}(\.\d{1,2})?/g;
const NUMBER = /\d[\d,]{0,15}(\.\d{1,2})?/g;
const TOKEN = /[\p{L}\p{N}_]+/gu;
const NAMED =
  /\b(?:[Nn]ame(?: on the (?:order|account))? is|[Nn]ame:|I am|I['’]m|[Tt]his is|[Nn]ame of) {1,3}(\p{Lu}[\p{L}'-]{1,40}) {1,3}(\p{Lu}[\p{L}'-]{1,40})/gu;

/** An email address in the form in which it is compared. */
export const clean = (email: string) => email.toLowerCase().replace(/[.-]+$/, '');
const value = (amount: string) => Number(amount.replace(/[^\d.]/g, ''));

/** The words of a text that contain digits and identify something: order numbers, zip codes, ids, flight numbers. */
function idsIn(text: string): string[] {
  const words = text.replace(EMAIL, ' ').replace(AMOUNT, ' ').match(TOKEN) ?? [];
  return words.filter((word) => {
    const digits = word.replace(/\D/g, '').length;
    return digits >= 4 || (digits > 0 && /^[A-Z0-9]{6}$/.test(word) && /[A-Z]/.test(word));
  });
}

/** What the customer knows so far: the scenario, and what the agent and the customer's tools said. */
export class KnownFacts {
  readonly #words = new Set<string>();
  readonly #emails = new Set<string>();
  readonly #numbers = new Set<number>();

  learn(text: string): void {
    for (const email of text.match(EMAIL) ?? []) this.#emails.add(clean(email));
    for (const number of text.match(NUMBER) ?? []) this.#numbers.add(value(number));
    for (const word of text.toLowerCase().match(TOKEN) ?? []) for (const part of [word, ...word.split('_')]) this.#words.add(part);
  }

  /** Describes the facts in a message that nobody told the customer. */
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

/** The first and last names of persons that a text introduces. */
export const namesIn = (text: string): [string, string][] => [...text.matchAll(NAMED)].map(([, first, last]) => [first!, last!]);

/** All texts of the scenario, joined. */
export const scenarioText = (scenario: UserScenario): string => `${scenario.instruction} ${JSON.stringify(scenario)}`;
