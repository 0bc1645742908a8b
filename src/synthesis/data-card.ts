/** @file What the card of a data set says: counts, the way to what is kept, agreement, diversity and overlap with held-out tasks. */
import type { Graded, Grades, Review } from '../records/grades.ts';
import { agreements, type PairAgreement } from './agreement.ts';
import { type Contamination, contaminationOf, type HeldOut } from './contamination.ts';
import { type Difficulty, difficultyOf, type PassRates } from './difficulty.ts';
import { counts, type Diversity, diversityOf } from './diversity.ts';
import { errorBound } from './error-bound.ts';
import { decide, reasonName, rulesKeep } from './keep.ts';
import { nearMissTable, type NearMissRow } from './near-misses.ts';
import { rowSha256 } from './row-hash.ts';
import type { GradedRow } from './types.ts';

/** A row, with its grades if the file was graded. */
export type CardRow = GradedRow & { grades?: Grades | undefined };

export interface DataCard {
  rows: number;
  /** The rows and the kept rows by the place of their task: domain and level. */
  places: Record<string, { rows: number; kept: number }>;
  /** Null: the rows are not graded, so all but near-misses count as kept. */
  funnel: {
    /** The rows that are left after each step. */
    rules: number;
    judge: number | null;
    person: number;
    /** The rows for which a person must decide, and has not. */
    waiting: number;
    /** How many rows have each reason, the most frequent first. */
    reasons: Record<string, number>;
  } | null;
  kept: number;
  /** Kept rows that say exactly what an earlier one says. */
  repeated: number;
  /** What graded the rows. Null: no model did. */
  judge: { model: string; prompt: string; votes: number; seed: number }[] | null;
  /** Reviews of rows that the machine keeps. Null: no person reviewed. */
  reviews: { reviewers: number; checked: number; bad: number; unsure: number; bound: number } | null;
  agreement: PairAgreement[];
  near_misses: NearMissRow[] | null;
  /** The rows that were spoilt on purpose. */
  spoilt: number;
  /** Of the kept rows, as the following. Null: none is kept. */
  diversity: Diversity | null;
  /** Null: no results are given. */
  difficulty: Difficulty | null;
  intents: Record<string, number>;
  personas: Record<string, number>;
  demonstrators: Record<string, number>;
  contamination: Contamination | null;
}

export function dataCard(
  rows: readonly CardRow[],
  reviews: readonly Review[],
  held: readonly HeldOut[] | null,
  played: { agent: string; rates: PassRates } | null = null,
): DataCard {
  const newest = newestReviews(reviews);
  const all = rows.map((row, i) => {
    const sha256 = rowSha256(row);
    return { ...row, sha256, review: newest.get(sha256), graded: row.grades ? decide(row.grades) : null, key: String(i) };
  });
  const isGraded = all.some(({ graded }) => graded);
  const stays = ({ graded, review, near_miss: label }: Row) =>
    review && review.decision !== 'unsure' ? review.decision === 'keep' : isGraded ? graded?.keep === 'yes' : !label;
  const kept = all.filter(stays);
  const withGrades = all.flatMap(({ grades, ...row }) => (grades ? [{ ...row, grades, keep: row.graded!.keep }] : []));
  const byPlace = counts(all.map(placeOf));
  const keptByPlace = counts(kept.map(placeOf));
  return {
    rows: rows.length,
    places: Object.fromEntries([...byPlace].sort().map(([place, n]) => [place, { rows: n, kept: keptByPlace.get(place) ?? 0 }])),
    funnel: isGraded ? funnelOf(all, kept.length) : null,
    kept: kept.length,
    repeated: kept.length - new Set(kept.map(({ sha256 }) => sha256)).size,
    judge: judgesOf(withGrades),
    reviews: reviewsOf(all),
    agreement: agreements(withGrades),
    near_misses: withGrades.some((row) => row.near_miss) ? nearMissTable(withGrades) : null,
    spoilt: all.filter(({ near_miss: label }) => label).length,
    diversity: diversityOf(kept),
    difficulty: played && difficultyOf(kept, played.agent, played.rates),
    intents: tally(kept.map(({ intent }) => intent)),
    personas: tally(kept.map(({ persona }) => persona)),
    demonstrators: tally(kept.map(({ demonstrator }) => demonstrator)),
    contamination: held && contaminationOf(kept, held),
  };
}

type Row = CardRow & { graded: Graded | null; review: Review | undefined };

/** The newest review of each conversation, by its SHA-256. */
export function newestReviews(reviews: readonly Review[]): Map<string, Review> {
  const found = new Map<string, Review>();
  for (const review of reviews) if ((found.get(review.sha256)?.at ?? -1) <= review.at) found.set(review.sha256, review);
  return found;
}

/** The ids of our tasks say domain and level. */
function placeOf({ id, domain }: GradedRow): string {
  const [first, level] = id.split('/');
  return domain === undefined ? 'not known' : first === domain && level !== undefined ? `${domain} ${level}` : domain;
}

function funnelOf(all: readonly Row[], person: number): NonNullable<DataCard['funnel']> {
  const byRules = all.filter(({ grades }) => grades && rulesKeep(grades));
  const judged = all.some(({ grades }) => grades?.judge);
  return {
    rules: byRules.length,
    judge: judged ? byRules.filter(({ grades }) => grades!.judge?.keep !== false).length : null,
    person,
    waiting: all.filter(({ graded, review }) => graded?.keep === 'person' && (!review || review.decision === 'unsure')).length,
    reasons: tally(all.flatMap(({ graded }) => [...new Set(graded?.keep_reasons.map(reasonName))])),
  };
}

function judgesOf(rows: readonly { grades: Grades }[]): DataCard['judge'] {
  const found = rows.flatMap(({ grades: { judge } }) =>
    judge ? [JSON.stringify([judge.model, judge.prompt, judge.votes, judge.seed])] : [],
  );
  const different = [...new Set(found)].sort().map((one) => JSON.parse(one) as [string, string, number, number]);
  return different.length === 0 ? null : different.map(([model, prompt, votes, seed]) => ({ model, prompt, votes, seed }));
}

function reviewsOf(all: readonly Row[]): DataCard['reviews'] {
  const own = all.flatMap(({ review, graded }) => (review ? [{ review, keep: graded?.keep ?? 'yes' }] : []));
  if (own.length === 0) return null;
  const decisions = own.filter(({ keep }) => keep === 'yes').map(({ review }) => review.decision);
  const unsure = decisions.filter((decision) => decision === 'unsure').length;
  const bad = decisions.filter((decision) => decision === 'reject').length;
  const checked = decisions.length - unsure;
  return { reviewers: new Set(own.map(({ review }) => review.reviewer)).size, checked, bad, unsure, bound: errorBound(bad, checked) };
}

/** How often each value occurs, the most frequent first. Rows without a value do not count. */
export function tally(values: readonly (string | undefined)[]): Record<string, number> {
  const found = counts(values.filter((value) => value !== undefined && value !== '') as string[]);
  return Object.fromEntries([...found].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}
