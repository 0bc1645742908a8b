/** @file What a scenario says about the facts that a customer may state. */
import { PRODUCT_TYPES } from '../catalogue.ts';
import type { UserScenario, Wish } from '../../../records/task.ts';
import { orderIds } from './listening.ts';

/** The facts of a structured scenario. A fact that the scenario plans as a wrong detail or before a change of mind is one of them. */
export interface ScenarioFacts {
  identity: Readonly<Record<string, string>>;
  orders: ReadonlySet<string>;
  /** Zip codes of new addresses. */
  zips: ReadonlySet<string>;
  /** Kinds of payment: `credit card`, `paypal`, `gift card`, `original`. */
  payments: ReadonlySet<string>;
  reasons: ReadonlySet<string>;
  /** The wanted values of each option of a product. */
  options: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Whether the scenario says more than its text. Imported tasks have a text only. */
export const isStructured = ({ benchmark, wishes, identity }: UserScenario): boolean =>
  benchmark === undefined && (wishes.length > 0 || Object.keys(identity).length > 0);

/** Whether the customer must wait for questions before it tells the facts of its wish. */
export const withholds = ({ persona, tellsAll }: UserScenario): boolean => !(tellsAll ?? persona !== 'on_request');

const requestsOf = (wishes: readonly Wish[]) => wishes.flatMap((wish) => (wish.insteadOf ? [wish, wish.insteadOf] : [wish]));

const PAYMENTS: Record<string, RegExp> = {
  'credit card': /\bcredit[ _]?card|\bvisa\b|\bmaster ?card\b|\bcard ending\b/i,
  paypal: /\bpay ?pal/i,
  'gift card': /\bgift[ _]?card/i,
  original: /\boriginal\b/i,
};

/** The kinds of payment that a text names. */
export const paymentsIn = (text: string): string[] => Object.keys(PAYMENTS).filter((kind) => PAYMENTS[kind]!.test(text));

const REASONS: Record<string, RegExp> = {
  'ordered by mistake': /\bby mistake\b|\baccident(ally)?\b/i,
  'no longer needed': /\bno longer (need|want)|\bnot? need(ed)? (it|them|this|that)? ?any ?more\b|\b(don't|do not) need\b/i,
};
export const reasonsIn = (text: string): string[] => Object.keys(REASONS).filter((reason) => REASONS[reason]!.test(text));

export function scenarioFacts({ identity, wishes }: UserScenario): ScenarioFacts {
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

/** All values of each option in the catalogue, in lower case. */
const OPTION_VALUES: Record<string, Set<string>> = {};
for (const { options } of PRODUCT_TYPES)
  for (const [name, values] of Object.entries(options))
    for (const value of values) (OPTION_VALUES[name] ??= new Set()).add(value.toLowerCase());

/** The values of an option that a sentence in lower case names beside the option: `color red`, `red color`, `in red`. */
export function optionValuesIn(sentence: string, option: string): string[] {
  if (!sentence.includes(option)) return [];
  const padded = ` ${sentence.replace(/[^\p{L}\p{N}.-]+/gu, ' ')} `.replace(/\. /g, ' ');
  return [...(OPTION_VALUES[option] ?? [])].filter((value) =>
    [`${option} ${value}`, `${option} is ${value}`, `${option} to ${value}`, `${value} ${option}`, `in ${value}`].some((form) =>
      padded.includes(` ${form} `),
    ),
  );
}
