/**
 * @file The conditions of generated tasks (shares of customers, faults of tools, intents), as settings and as a code in task
 * ids. A task id contains its conditions, because evaluations are paired by task id, so tasks with equal ids must be equal.
 */
import {
  PERSONAS,
  type Conditions,
  type ConditionSettings,
  type CustomerShares,
  type Persona,
  type ToolFaults,
  type ValidationConditionSettings,
} from '../records/conditions.ts';

/** The shares of all customers. Those that are not given are 0. */
export const shares = (values: Partial<CustomerShares>): CustomerShares => ({
  ...(Object.fromEntries(PERSONAS.map((persona) => [persona, 0])) as CustomerShares),
  ...values,
});
export const RELIABLE: ToolFaults = { outages: 0, stale_reads: 0, timeouts: 0 };
const FAULTS = Object.keys(RELIABLE) as (keyof ToolFaults)[];
const faults = (value: (fault: keyof ToolFaults) => number) =>
  Object.fromEntries(FAULTS.map((fault) => [fault, value(fault)])) as unknown as ToolFaults;
export const isReliable = (tools: ToolFaults): boolean => FAULTS.every((fault) => !tools[fault]);

/** The shares in the settings of a domain in which the customers cannot be chosen. They have no effect there. */
export const ANYONE = shares({ upfront: 0.37, on_request: 0.32, changes_mind: 0.15, pushy: 0.1, impossible: 0.06 });
/** Few of these customers change their mind, so writing at once works as well as asking first. */
const COOPERATIVE = shares({ upfront: 0.4, on_request: 0.36, changes_mind: 0.1, pushy: 0.05, impossible: 0.05, confused: 0.04 });

/** The conditions of the cold start's conversations. There are a few outages, so that the demonstrators show how to try again. */
export const COLD_START: Conditions = { customers: COOPERATIVE, tools: { ...RELIABLE, outages: 0.02 } };

export function conditionSettings({ customers, tools }: Conditions): ConditionSettings & ValidationConditionSettings {
  const settings: Record<string, number> = {};
  for (const prefix of ['', 'val_']) {
    for (const [persona, value] of Object.entries(customers)) settings[`${prefix}customers.${persona}`] = value;
    for (const [fault, value] of Object.entries(tools)) settings[`${prefix}tools.${fault}`] = value;
  }
  return settings as ConditionSettings & ValidationConditionSettings;
}

type Settings = ConditionSettings & ValidationConditionSettings & Partial<Record<'intents' | 'val_intents', string>>;

/** The conditions of a run: those of its training, or those of its evaluations. */
export function conditionsOf(settings: Settings, phase: 'train' | 'val'): Conditions {
  const prefix = phase === 'val' ? 'val_' : '';
  const value = (name: keyof ConditionSettings) => settings[`${prefix}${name}`];
  // Runs from before the setting existed have tasks with all intents.
  const intents = readIntents(settings[`${prefix}intents`] ?? '');
  return {
    // Runs from before a persona or a fault existed have no setting for it.
    customers: Object.fromEntries(PERSONAS.map((persona) => [persona, value(`customers.${persona}`) ?? 0])) as CustomerShares,
    tools: faults((fault) => value(`tools.${fault}`) ?? 0),
    ...(intents.length > 0 && { intents }),
  };
}

/** Reads a list such as `cancel, return`. Each name occurs once. */
export const readNames = (list: string): string[] => [...new Set(list.split(',').map((name) => name.trim()))].filter((name) => name !== '');

/** The same in alphabetical order. */
export const readIntents = (list: string): string[] => readNames(list).sort();

/**
 * Replaces shares by the given values. The other shares keep their proportions and are scaled, so that the sum of all is 1. If
 * the other shares are all 0, the rest goes to `upfront`, or to `on_request` if `upfront` is given.
 * @throws if a given value is not a share, or if the sum of the given values is above 1
 */
export function completeShares(shares: CustomerShares, given: Partial<CustomerShares>): CustomerShares {
  const total = Object.entries(given).reduce((sum, [persona, value]) => {
    if (!(value >= 0 && value <= 1)) throw new Error(`customers.${persona} is ${value}: expected 0 to 1`);
    return sum + value;
  }, 0);
  if (total > 1 + 1e-9) throw new Error(`the given customers.* sum to ${round(total)}: expected at most 1`);
  const open = PERSONAS.filter((persona) => given[persona] === undefined);
  const rest = Math.max(0, 1 - total);
  if (open.length === 0 && rest > 1e-9) throw new Error(`customers.* sum to ${round(total)}: expected 1`);
  const weight = open.reduce((sum, persona) => sum + shares[persona], 0);
  const heir = open.includes('upfront') ? 'upfront' : open[0];
  const filled = (persona: Persona) => (weight > 0 ? (rest * shares[persona]) / weight : persona === heir ? rest : 0);
  return Object.fromEntries(PERSONAS.map((persona) => [persona, round(given[persona] ?? filled(persona))])) as CustomerShares;
}

const round = (value: number) => Math.round(value * 1e6) / 1e6;

/*
 * The code in ids has a letter for each share, followed by its value in thousandths. Shares that are 0 are omitted:
 * `u190r130c550p100i30`. If the intents are restricted, they follow: `u190r130c550p100i30.cancel.return`.
 */
const LETTERS: Record<Persona | keyof ToolFaults, string> = {
  upfront: 'u',
  on_request: 'r',
  changes_mind: 'c',
  pushy: 'p',
  impossible: 'i',
  confused: 'w',
  reserved: 'v',
  outages: 'o',
  stale_reads: 's',
  timeouts: 't',
};

/**
 * The code of the conditions, as a part of a task id.
 * @param uncoded the conditions that an id without a code means; the code for them is ''. Undefined if the domain has no
 * conditions
 */
export function conditionsCode(conditions: Conditions | undefined, uncoded: Conditions | undefined): string {
  if (!conditions || !uncoded) return '';
  const code = encode(conditions);
  return code === encode(uncoded) ? '' : code;
}

const encode = ({ customers, tools, intents = [] }: Conditions): string =>
  [
    Object.entries({ ...customers, ...tools })
      .map(([name, value]) => [LETTERS[name as keyof typeof LETTERS], Math.round(value * 1000)] as const)
      .filter(([, thousandths]) => thousandths > 0)
      .map(([letter, thousandths]) => `${letter}${thousandths}`)
      .join(''),
    ...intents,
  ].join('.');

export const isConditionsCode = (text: string): boolean => /^(?:[urcpiwvost]\d{1,4})*(?:\.[a-z_]+)*$/.test(text);

/** Reads a code that `conditionsCode` wrote. Undefined for ''. @throws if the text is not such a code */
export function readConditionsCode(code: string): Conditions | undefined {
  if (code === '') return undefined;
  if (!isConditionsCode(code)) throw new Error(`conditions "${code}" of a task id: expected shares such as u200c800`);
  const [shares = '', ...intents] = code.split('.');
  const values = new Map([...shares.matchAll(/([a-z])(\d+)/g)].map(([, letter, thousandths]) => [letter!, Number(thousandths) / 1000]));
  const of = (name: keyof typeof LETTERS) => values.get(LETTERS[name]) ?? 0;
  return {
    customers: Object.fromEntries(PERSONAS.map((persona) => [persona, of(persona)])) as CustomerShares,
    tools: faults(of),
    ...(intents.length > 0 && { intents }),
  };
}
