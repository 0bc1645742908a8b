/** @file Finds facts that a customer of the shop states differently from its scenario. */
import { PRODUCT_TYPES } from '../catalogue.ts';
import { UNSEEN_CATALOGUE } from '../unseen-catalogue.ts';
import type { UserScenario, Wish } from '../../../records/task.ts';
import { clean, EMAIL, namesIn } from '../../../users/audit-facts.ts';
import type { CustomerLanguage } from '../../../users/types.ts';
import { orderIds } from './listening.ts';

type Contradiction = ReturnType<CustomerLanguage['contradictions']>[number];

/**
 * The facts of a structured scenario. They include facts that the customer should state on purpose: a wrong detail, or a
 * request before a change of mind.
 */
interface ScenarioFacts {
  identity: Readonly<Record<string, string>>;
  orders: ReadonlySet<string>;
  /** The zip codes of new addresses. */
  zips: ReadonlySet<string>;
  /** The kinds of payment: `credit card`, `paypal`, `gift card`, `original`. */
  payments: ReadonlySet<string>;
  reasons: ReadonlySet<string>;
  /** The wanted values of each option of a product. */
  options: ReadonlyMap<string, ReadonlySet<string>>;
}

const requestsOf = (wishes: readonly Wish[]) => wishes.flatMap((wish) => (wish.insteadOf ? [wish, wish.insteadOf] : [wish]));

const PAYMENTS: Record<string, RegExp> = {
  'credit card': /\bcredit[ _]?card|\bvisa\b|\bmaster ?card\b|\bcard ending\b/i,
  paypal: /\bpay ?pal/i,
  'gift card': /\bgift[ _]?card/i,
  original: /\boriginal\b/i,
};

/** The kinds of payment that a text names. */
const paymentsIn = (text: string): string[] => Object.keys(PAYMENTS).filter((kind) => PAYMENTS[kind]!.test(text));

const REASONS: Record<string, RegExp> = {
  'ordered by mistake': /\bby mistake\b|\baccident(ally)?\b/i,
  'no longer needed': /\bno longer (need|want)|\bnot? need(ed)? (it|them|this|that)? ?any ?more\b|\b(don't|do not) need\b/i,
};
const reasonsIn = (text: string): string[] => Object.keys(REASONS).filter((reason) => REASONS[reason]!.test(text));

function scenarioFacts({ identity, wishes }: UserScenario): ScenarioFacts {
  const orders = new Set<string>();
  const zips = new Set<string>();
  const payments = new Set<string>();
  const reasons = new Set<string>();
  const options = new Map<string, Set<string>>();
  for (const { slots, words } of requestsOf(wishes)) {
    for (const id of orderIds(String(slots.order_id ?? ''))) orders.add(id);
    if (slots.zip) zips.add(String(slots.zip));
    for (const kind of paymentsIn([slots.payment_method_id, ...(words.payment ?? [])].join(' '))) payments.add(kind);
    if (slots.reason) reasons.add(String(slots.reason));
    for (const choice of (words.new_items ?? []).flatMap((text) => text.split(' and '))) {
      const option = Object.keys(OPTION_VALUES).find((name) => choice.startsWith(`${name} `));
      if (option) options.set(option, (options.get(option) ?? new Set()).add(choice.slice(option.length + 1).toLowerCase()));
    }
  }
  return { identity, orders, zips, payments, reasons, options };
}

/** All values of each option in the catalogues, in lower case. */
const OPTION_VALUES: Record<string, Set<string>> = {};
for (const { options } of [...PRODUCT_TYPES, ...UNSEEN_CATALOGUE.products])
  for (const [name, values] of Object.entries(options))
    for (const value of values) (OPTION_VALUES[name] ??= new Set()).add(value.toLowerCase());

/** The values of an option that a lower-case sentence names next to the option: `color red`, `red color`, `in red`. */
function optionValuesIn(sentence: string, option: string): string[] {
  if (!sentence.includes(option)) return [];
  const padded = ` ${sentence.replace(/[^\p{L}\p{N}.-]+/gu, ' ')} `.replace(/\. /g, ' ');
  return [...(OPTION_VALUES[option] ?? [])].filter((value) =>
    [`${option} ${value}`, `${option} is ${value}`, `${option} to ${value}`, `${value} ${option}`, `in ${value}`].some((form) =>
      padded.includes(` ${form} `),
    ),
  );
}

const sentences = (text: string) => text.split(/(?<=[.!?])\s|\n/);
const NEGATED = /\b(not|isn't|isn’t|never|don't|don’t|instead of|rather than|from|paid|currently|wrong)\b/i;
/** Whether a sentence states nothing, because it is a question or negates something. */
const isAside = (sentence: string) => NEGATED.test(sentence) || isQuestion(sentence);
const isQuestion = (sentence: string) => sentence.trimEnd().endsWith('?');

/** The facts of a message that differ from those of the scenario. */
export function contradictions(text: string, scenario: UserScenario): Contradiction[] {
  const { identity, orders, zips, payments, reasons, options } = scenarioFacts(scenario);
  const found: Contradiction[] = [];
  const other = (field: string, said: string, own: Iterable<string>) => found.push({ field, said, own: [...own] });
  for (const email of text.match(EMAIL) ?? [])
    if (identity.email && clean(email) !== identity.email.toLowerCase()) other('the e-mail address', clean(email), [identity.email]);
  const { first_name, last_name } = identity;
  for (const [first, last] of namesIn(text))
    if (first_name && last_name && (first.toLowerCase() !== first_name.toLowerCase() || last.toLowerCase() !== last_name.toLowerCase()))
      other('the name', `${first} ${last}`, [`${first_name} ${last_name}`]);
  for (const sentence of sentences(text)) {
    // Negated sentences are checked too: “I do not need it” is a reason, and does not negate one.
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
      // A sentence that names the wanted value may also name the present value.
      if (named.length > 0 && !named.some((name) => wanted.has(name))) other(`the ${option}`, named.join(' and '), wanted);
    }
  }
  return found;
}

/** Whether a first message says who the customer is and contains every fact of the first wish. */
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
