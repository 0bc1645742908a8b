/**
 * @file The conditions of generated tasks as settings and in task ids. A task id names its conditions, because tasks with equal
 * ids must be equal: evaluations are paired by task id.
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

/** All shares of customers, those that are not given with 0. */
export const shares = (values: Partial<CustomerShares>): CustomerShares => ({
  ...(Object.fromEntries(PERSONAS.map((persona) => [persona, 0])) as CustomerShares),
  ...values,
});
export const RELIABLE: ToolFaults = { outages: 0, stale_reads: 0 };

/** Stands in the settings of a domain whose customers nobody can choose. */
export const ANYONE = shares({ upfront: 0.37, on_request: 0.32, changes_mind: 0.15, pushy: 0.1, impossible: 0.06 });
/** Few of them change their mind, so writing at once works as well as asking first. */
const COOPERATIVE = shares({ upfront: 0.4, on_request: 0.36, changes_mind: 0.1, pushy: 0.05, impossible: 0.05, confused: 0.04 });

/** The conditions of the cold start's conversations. A few outages show the demonstrators' second try. */
export const COLD_START: Conditions = { customers: COOPERATIVE, tools: { ...RELIABLE, outages: 0.02 } };

export function conditionSettings({ customers, tools }: Conditions): ConditionSettings & ValidationConditionSettings {
  const settings: Record<string, number> = {};
  for (const prefix of ['', 'val_']) {
    for (const [persona, value] of Object.entries(customers)) settings[`${prefix}customers.${persona}`] = value;
    for (const [fault, value] of Object.entries(tools)) settings[`${prefix}tools.${fault}`] = value;
  }
  return settings as ConditionSettings & ValidationConditionSettings;
}

type Settings = ConditionSettings & ValidationConditionSettings;

/** The conditions of a run's training or of its evaluations. */
export function conditionsOf(settings: Settings, phase: 'train' | 'val'): Conditions {
  const value = (name: keyof ConditionSettings) => settings[phase === 'val' ? (`val_${name}` as keyof Settings) : name];
  return {
    customers: Object.fromEntries(PERSONAS.map((persona) => [persona, value(`customers.${persona}`)])) as CustomerShares,
    tools: { outages: value('tools.outages'), stale_reads: value('tools.stale_reads') },
  };
}

/**
 * `shares` with the given values. The other shares keep their proportions and take the rest, so that all sum to 1. If they
 * were all 0, the rest goes to `upfront`, or to `on_request` if `upfront` is given.
 * @throws if a given value is not a share, or the given values sum to more than 1
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

/* In ids: a letter for each share and its value in thousandths, without zeros: `u190r130c550p100i30`. */
const LETTERS: Record<Persona | keyof ToolFaults, string> = {
  upfront: 'u',
  on_request: 'r',
  changes_mind: 'c',
  pushy: 'p',
  impossible: 'i',
  confused: 'w',
  outages: 'o',
  stale_reads: 's',
};

/**
 * The conditions as a part of a task id.
 * @param uncoded the conditions that an id without a code means: for them the code is ''. Undefined: the domain has no conditions
 */
export function conditionsCode(conditions: Conditions | undefined, uncoded: Conditions | undefined): string {
  if (!conditions || !uncoded) return '';
  const code = encode(conditions);
  return code === encode(uncoded) ? '' : code;
}

const encode = ({ customers, tools }: Conditions): string =>
  Object.entries({ ...customers, ...tools })
    .map(([name, value]) => [LETTERS[name as keyof typeof LETTERS], Math.round(value * 1000)] as const)
    .filter(([, thousandths]) => thousandths > 0)
    .map(([letter, thousandths]) => `${letter}${thousandths}`)
    .join('');

export const isConditionsCode = (text: string): boolean => /^(?:[urcpiwos]\d{1,4})*$/.test(text);

/** Reads what `conditionsCode` wrote. Undefined for ''. @throws if the text is no such code */
export function readConditionsCode(code: string): Conditions | undefined {
  if (code === '') return undefined;
  if (!isConditionsCode(code)) throw new Error(`conditions "${code}" of a task id: expected shares such as u200c800`);
  const values = new Map([...code.matchAll(/([a-z])(\d+)/g)].map(([, letter, thousandths]) => [letter!, Number(thousandths) / 1000]));
  const of = (name: keyof typeof LETTERS) => values.get(LETTERS[name]) ?? 0;
  return {
    customers: Object.fromEntries(PERSONAS.map((persona) => [persona, of(persona)])) as CustomerShares,
    tools: { outages: of('outages'), stale_reads: of('stale_reads') },
  };
}
