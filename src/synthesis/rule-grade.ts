/** @file The grades that a rule gives. */
import type { RuleGrade } from '../records/grades.ts';

/** Texts of grades have at most so many characters. */
export const LONGEST_TEXT = 4000;

export const GOOD: RuleGrade = { ok: true };
export const unknown = (why: string): RuleGrade => ({ ok: null, why: short(why) });
export const bad = (why: string, message?: number): RuleGrade => ({
  ok: false,
  why: short(why),
  ...(message !== undefined && { message }),
});

/** The reason may quote a schema or a name of a stranger. */
const short = (why: string): string => (why.length > LONGEST_TEXT ? `${why.slice(0, LONGEST_TEXT - 1)}…` : why);
