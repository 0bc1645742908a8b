/** @file What a person's review of a data set needs: which conversations are drawn, and what rules and model say about them. */
import { agreementOf, type Agreement } from '../../evaluation/agreement.ts';
import { type DatasetConversationRow } from '../../records/dataset.ts';
import { type Grades, type Keep, type Review, type ReviewingRow, RULES } from '../../records/grades.ts';
import { type Opinions } from '../../synthesis/agreement.ts';
import { errorBound, moreToCheck } from '../../synthesis/error-bound.ts';
import { decide, rulesKeep } from '../../synthesis/keep.ts';
import { drawReviews } from '../../synthesis/review-sample.ts';
import { rowSha256 } from '../../synthesis/row-hash.ts';

/** What decides a row, by its grades, or else by the reward and the audit that are stored with it. */
function verdictOf({ grades, reward = 1, violations = [] }: DatasetConversationRow): Keep {
  if (grades) return decide(grades).keep;
  return reward === 1 && violations.length === 0 ? 'yes' : 'no';
}

/** The places of the conversations to review. */
export const drawFrom = (rows: readonly DatasetConversationRow[], seed: number): number[] =>
  drawReviews(
    rows.map((row) => ({ index: row.index, keep: verdictOf(row), kind: row.near_miss?.kind ?? row.intent ?? '' })),
    seed,
  );

/** The grades of rows: those of the file, or else what the reward and the audit say that are stored with them. */
export const gradesOf = (rows: readonly DatasetConversationRow[]): Map<number, Grades> =>
  new Map(rows.map((row) => [row.index, row.grades ?? storedGrades(row)]));

function storedGrades({ reward, violations }: DatasetConversationRow): Grades {
  const rules = Object.fromEntries(RULES.map((name) => [name, { ok: null, why: 'only mua grade checks this' }])) as Grades['rules'];
  if (reward !== undefined) rules.reward = { ok: reward === 1, why: `the reward is ${reward}` };
  const found = [...new Set(violations?.map(({ rule }) => rule))];
  if (violations) rules.audit = { ok: found.length === 0, why: found.join(', '), found };
  return { rules };
}

/** A conversation with the decisions about it. */
export interface Reviewed {
  row: DatasetConversationRow;
  grades: Grades;
  /** The decision of the reviewer. */
  own: Review;
  others: Review[];
}

/** The conversations that the reviewer has reviewed, in the order of the draw. */
export function reviewedOf(
  { reviewer, drawn, reviews }: ReviewingRow,
  rows: ReadonlyMap<number, DatasetConversationRow>,
  grades: ReadonlyMap<number, Grades>,
): Reviewed[] {
  return drawn.flatMap((index) => {
    const row = rows.get(index);
    const hash = row && rowSha256(row);
    const all = reviews.filter(({ sha256 }) => sha256 === hash);
    const own = all.find((one) => one.reviewer === reviewer);
    return row && own && grades.has(index) ? [{ row, grades: grades.get(index)!, own, others: all.filter((one) => one !== own) }] : [];
  });
}

export const opinionsOf = (all: readonly Reviewed[]): Opinions[] =>
  all.map(({ row, grades, own }) => ({ key: String(row.index), grades, review: own }));

const keeps = ({ decision }: Review): boolean | null => (decision === 'unsure' ? null : decision === 'keep');

/** How far the reviewer agrees with each other reviewer about what to keep. */
export function betweenPersons(all: readonly Reviewed[]): { reviewer: string; agreement: Agreement }[] {
  const names = [...new Set(all.flatMap(({ others }) => others.map(({ reviewer }) => reviewer)))].sort();
  const answers = (of: (one: Reviewed) => Review | undefined) =>
    new Map(all.flatMap((one) => {
      const review = of(one);
      const keep = review && keeps(review);
      return typeof keep === 'boolean' ? [[String(one.row.index), keep] as const] : [];
    })); // prettier-ignore
  const own = answers((one) => one.own);
  return names.map((reviewer) => ({
    reviewer,
    agreement: agreementOf(
      own,
      answers(({ others }) => others.find((one) => one.reviewer === reviewer)),
    ),
  }));
}

/** The conversations about which not all say the same, with what each side says. */
export function disagreements(all: readonly Reviewed[]): { index: number; sides: string[] }[] {
  return all.flatMap(({ row, grades, own, others }) => {
    const said: [string, boolean | null][] = [
      ['you', keeps(own)],
      ...others.map((one): [string, boolean | null] => [one.reviewer, keeps(one)]),
      ['rules', rulesKeep(grades)],
      ['judge', grades.judge?.keep ?? null],
    ];
    const sides = said.filter(([, keep]) => keep !== null);
    if (new Set(sides.map(([, keep]) => keep)).size < 2) return [];
    return [{ index: row.index, sides: sides.map(([who, keep]) => `${who}: ${keep ? 'keep' : 'reject'}`) }];
  });
}

const TARGETS = [0.1, 0.05, 0.03, 0.01];

/** How many of the rows that rules and model keep the reviewer checked, and what that says about the others. */
export function errorsLeft(
  all: readonly Pick<Reviewed, 'row' | 'own'>[],
): { checked: number; bad: number; bound: number; more: number; target: number } | null {
  const decisions = all.flatMap(({ row, own }) => (verdictOf(row) === 'yes' ? (keeps(own) ?? []) : []));
  if (decisions.length === 0) return null;
  const bad = decisions.filter((keep) => !keep).length;
  const bound = errorBound(bad, decisions.length);
  const target = TARGETS.find((share) => share < bound) ?? TARGETS.at(-1)!;
  return { checked: decisions.length, bad, bound, target, more: moreToCheck(bad, decisions.length, target) };
}
