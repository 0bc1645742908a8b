/** @file The schema of stored reviews, and files of reviews: JSON lines, what a person decided about one conversation each. */
import * as z from 'zod/mini';
import { parserReason } from '../base/input-error.ts';
import { CRITERIA, DECISIONS, type Review, type ReviewingRow } from '../records/grades.ts';
import { checked } from './checked.ts';
import { ImportError } from './import-error.ts';
import { type Fields, id, natural, time } from './schema-fields.ts';

const review = z.object({
  conversation: z.string().check(z.maxLength(400)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')),
  reviewer: z.string().check(z.minLength(1), z.maxLength(100)),
  decision: z.enum(DECISIONS),
  reasons: z.array(z.enum(CRITERIA)).check(z.maxLength(CRITERIA.length)),
  note: z.optional(z.string().check(z.maxLength(2000))),
  rubric: natural,
  seconds: z.number().check(z.minimum(0)),
  at: time,
} satisfies Fields<Review>);

const MOST = 50_000;
const row = z.object({
  dataset: id,
  reviewer: review.shape.reviewer,
  seed: natural,
  createdAt: time,
  drawn: z.array(natural).check(z.maxLength(MOST)),
  reviews: z.array(review).check(z.maxLength(MOST)),
} satisfies Fields<ReviewingRow>);

/** Checks reviews that were read from the browser's storage. @throws ImportError */
export const readReviewing = (value: unknown): ReviewingRow => checked(row, value, 'the stored reviews');

export const writeReviews = (reviews: readonly Review[]): string => reviews.map((one) => `${JSON.stringify(one)}\n`).join('');

/** @throws ImportError naming the line, the field, its value and what is expected */
export function readReviews(file: string, text: string): Review[] {
  const seen = new Map<string, number>();
  const reviews = text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const where = `line ${i + 1}`;
    const read = checked<Review>(review, parsed(line.replace(/^\uFEFF/, ''), file, where), file, where);
    const key = `${read.reviewer}\n${read.sha256}`;
    const before = seen.get(key);
    if (before !== undefined)
      throw new ImportError(
        file,
        `${where}, conversation`,
        `is "${read.conversation}", as in line ${before}: expected one review of a reviewer`,
      );
    seen.set(key, i + 1);
    return [read];
  });
  if (reviews.length === 0) throw new ImportError(file, '', 'it has no review: expected one in each line');
  return reviews;
}

function parsed(text: string, file: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(file, where, `is not JSON (${parserReason(error)}): expected a review, as the page writes it`);
  }
}
