/** @file How far rules, the model and persons agree about the same conversations, for each criterion and for keeping the conversation. */
import { hash32 } from '../base/random.ts';
import { wilson } from '../base/wilson.ts';
import { type Agreement, agreementOf, type Answers, type Cells, cohen } from '../evaluation/agreement.ts';
import type { Interval } from '../records/evaluation.ts';
import { CRITERIA, type Criterion, type Grades, HARD, type Review } from '../records/grades.ts';
import { rulesKeep } from './keep.ts';

export type Asked = Criterion | 'keep';
const ASKED: readonly Asked[] = ['keep', ...CRITERIA];

export const PAIRS = ['rules–judge', 'judge–person', 'rules–person'] as const;
export type Pair = (typeof PAIRS)[number];

export interface PairAgreement extends Agreement {
  pair: Pair;
  asked: Asked;
  /** The share of equal answers, with Wilson's interval. */
  raw: Interval;
  /** The interval of kappa from 2,000 resamples of the conversations. Null: no resample has a kappa. */
  bootstrap: { low: number; high: number } | null;
}

/** A conversation with what is known of it. */
export interface Opinions {
  key: string;
  grades: Grades;
  review?: Review | undefined;
}

/** The answers of one side. A side that does not answer is left out. */
type Side = (one: Opinions, asked: Asked) => boolean | null | undefined;

/** The criteria that rules check too. */
const rules: Side = ({ grades: own }, asked) => {
  const { reward, audit, policy, communication } = own.rules;
  if (asked === 'keep') return rulesKeep(own);
  if (asked === 'goal_done') return reward.ok;
  if (asked === 'asked_before_each_write') return audit.ok === null ? null : !audit.found?.includes('unconfirmed_write');
  if (asked === 'policy_kept') return audit.ok === false || policy.ok === false ? false : policy.ok;
  return asked === 'communicated' ? communication.ok : null;
};
const judge: Side = ({ grades: { judge: own } }, asked) => (asked === 'keep' ? own?.keep : own?.criteria[asked].met);
/** Who rejects a conversation and names reasons says that the other hard criteria hold. */
const person: Side = ({ review }, asked) => {
  if (!review || review.decision === 'unsure') return null;
  if (asked === 'keep') return review.decision === 'keep';
  if (review.reasons.includes(asked)) return false;
  return HARD.includes(asked) && (review.decision === 'keep' || review.reasons.length > 0) ? true : null;
};

const SIDES: Record<Pair, readonly [Side, Side]> = {
  'rules–judge': [rules, judge],
  'judge–person': [person, judge],
  'rules–person': [person, rules],
};

/** One entry for each pair and question about which both sides say something. The first side of the cells is the person, or the rules. */
export function agreements(all: readonly Opinions[]): PairAgreement[] {
  return PAIRS.flatMap((pair) =>
    ASKED.flatMap((asked) => {
      const [first, second] = SIDES[pair].map((side) => answersOf(all, side, asked)) as [Answers, Answers];
      const found = agreementOf(first, second);
      const same = found.cells.yes + found.cells.no;
      const ends = wilson(same, found.n);
      return ends ? [{ pair, asked, ...found, raw: { value: same / found.n, ...ends }, bootstrap: bootstrapKappa(found.cells) }] : [];
    }),
  );
}

const answersOf = (all: readonly Opinions[], side: Side, asked: Asked): Answers =>
  new Map(all.flatMap((one) => (typeof side(one, asked) === 'boolean' ? [[one.key, side(one, asked) as boolean] as const] : [])));

const RESAMPLES = 2000;

/**
 * The 95 % interval of Cohen's kappa by the percentiles of resamples of the conversations. The same cells give the same interval. It is too
 * narrow for few conversations, so the interval of `agreementIn` stands beside it.
 */
export function bootstrapKappa(cells: Cells, seed = 1): { low: number; high: number } | null {
  const names = ['yes', 'label', 'judge', 'no'] as const;
  const ends = names.map((_, i) => names.slice(0, i + 1).reduce((sum, name) => sum + cells[name], 0));
  const n = ends[3]!;
  const values: number[] = [];
  for (let resample = 0; resample < RESAMPLES; resample++) {
    const drawn: Cells = { yes: 0, label: 0, judge: 0, no: 0 };
    for (let i = 0; i < n; i++) drawn[names[ends.findIndex((end) => hash32(seed, resample, i) % n < end)]!] += 1;
    const { value } = cohen(drawn);
    if (Number.isFinite(value)) values.push(value);
  }
  values.sort((a, b) => a - b);
  const at = (p: number) => values[Math.min(values.length - 1, Math.floor(p * values.length))]!;
  return values.length === 0 ? null : { low: at(0.025), high: at(0.975) };
}
