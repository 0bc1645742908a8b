/** @file The rule that says which conversations of an imported run succeeded, such as `outcome_reward>=1`. */
import { InputError, shown } from '../base/input-error.ts';
import type { ForeignValue } from '../records/foreign.ts';
import type { Trajectory } from '../records/trajectory.ts';

export interface SuccessRule {
  /** `reward`, a part of the reward, or a column of the file. */
  name: string;
  sign: Sign;
  value: number | string;
}

const SIGNS = {
  '>=': (a: number, b: number) => a >= b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '<': (a: number, b: number) => a < b,
  '=': (a: number, b: number) => a === b,
};
type Sign = keyof typeof SIGNS;

type Facts = Pick<Trajectory, 'rewards' | 'foreign'>;

/** The values by which a rule can judge a conversation: the reward, its parts, and the columns. */
export const valuesOf = ({ rewards, foreign }: Facts): Map<string, ForeignValue> =>
  new Map([
    ...Object.entries(foreign?.columns ?? {}),
    ...Object.entries(rewards ?? {}),
    ...(typeof foreign?.reward === 'number' ? [['reward', foreign.reward] as const] : []),
  ]);

/** The number of a text. True and false are 1 and 0. NaN if the text is no number. */
const numberOf = (text: string): number => (text.trim() === '' ? NaN : Number({ true: 1, false: 0 }[text.trim().toLowerCase()] ?? text));

/** The numeric value of a rule's column. Booleans count as 1 and 0. */
const numeric = (value: ForeignValue | undefined): number | undefined =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'number' ? value : undefined;

/**
 * @param names the names that the conversations have, in addition to `reward`
 * @throws InputError that names the rule and what was expected
 */
export function readSuccessRule(text: string, names: Iterable<string>): SuccessRule {
  const known = new Set(['reward', ...names]);
  const [, name = '', sign = '', value = ''] = /^\s*(.*?)\s*(>=|≥|<=|≤|==?|>|<)\s*(.*?)\s*$/su.exec(text) ?? [];
  const expected = (what: string) => new InputError(`the rule of success is ${shown(text, 200)}: expected ${what}`);
  if (name === '' || value === '') throw expected('NAME>=VALUE, such as reward>=1');
  if (!known.has(name)) throw expected(`one of the names ${shown([...known].join(', '), 500)}`);
  const written: Record<string, Sign> = { '≥': '>=', '≤': '<=', '==': '=' };
  const own = written[sign] ?? (sign as Sign);
  const number = numberOf(value);
  if (own !== '=' && !Number.isFinite(number)) throw expected(`a number after ${own}`);
  return { name, sign: own, value: Number.isFinite(number) ? number : value };
}

export const ruleText = ({ name, sign, value }: SuccessRule): string => `${name}${sign}${value}`;

/** Whether a conversation succeeded. Null if it lacks the rule's column, or failed when it was recorded. */
export function succeeded(rule: SuccessRule | null, facts: Facts & Pick<Trajectory, 'error'>): boolean | null {
  if (!rule || (facts.error !== undefined && facts.foreign?.reward === null)) return null;
  const own = valuesOf(facts).get(rule.name);
  if (own === undefined) return null;
  if (typeof rule.value === 'string') return own === rule.value;
  const number = numeric(own) ?? (typeof own === 'string' && rule.sign === '=' ? numberOf(own) : undefined);
  return number === undefined ? null : SIGNS[rule.sign](number, rule.value);
}

/** Names of columns that usually say whether a conversation succeeded. */
const OUTCOME = /success|succeeded|solved|resolved|passed|correct|outcome|accura|(?:^|_)acc(?:_|$)|exact_match/i;

/**
 * The rule that the file suggests: the reward is 1, if it is 0 or 1 everywhere. Else a part or a column that is 0 or 1 everywhere and has the
 * name of an outcome. Null if the file suggests none.
 */
export function suggestedRule(conversations: readonly Facts[]): SuccessRule | null {
  const values = new Map<string, Set<number | undefined>>();
  for (const facts of conversations)
    for (const [name, value] of valuesOf(facts)) {
      const seen = values.get(name) ?? new Set();
      values.set(name, seen.add(numeric(value)));
    }
  const isBinary = (name: string) => [...(values.get(name) ?? [])].every((value) => value === 0 || value === 1);
  const names = [...values.keys()].filter((name) => name === 'reward' || OUTCOME.test(name)).sort((a, b) => order(a) - order(b));
  const name = names.find(isBinary);
  return name === undefined ? null : { name, sign: '>=', value: 1 };
}

const order = (name: string) => (name === 'reward' ? 0 : 1);
