/** The reviews of a data set: what is stored, and what is said of them. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { disagreements, drawFrom, errorsLeft, gradesOf, reviewedOf } from '../../../src/app/coldstart/review.ts';
import { Reviews } from '../../../src/app/library/reviews.ts';
import { readReviews, writeReviews } from '../../../src/exchange/review-schema.ts';
import type { DatasetConversationRow } from '../../../src/records/dataset.ts';
import type { Decision, Review } from '../../../src/records/grades.ts';
import { ReviewDatabase } from '../../../src/storage/review-database.ts';
import { rowSha256 } from '../../../src/synthesis/row-hash.ts';
import { keptRows, readDataset } from '../../../src/training/dataset.ts';
import { shopRow } from '../../support/graded-rows.ts';

const rows = [1, 2, 3, 4].map((number, index): DatasetConversationRow => ({
  ...shopRow(number),
  dataset: 'd',
  index,
  reward: number === 4 ? 0 : 1,
}));
const review = (index: number, decision: Decision, reviewer = 'ana', at = index): Review => ({
  conversation: rows[index]!.id,
  sha256: rowSha256(rows[index]!),
  reviewer,
  decision,
  reasons: [],
  rubric: 1,
  seconds: 4,
  at,
});

test('decisions are stored one by one, undone, and joined with those of another person', async () => {
  const database = `reviews-${crypto.randomUUID()}`;
  const reviews = new Reviews(new ReviewDatabase(database));
  await reviews.give('d', review(0, 'keep'));
  expect(await reviews.get('d')).toBeUndefined();
  await reviews.begin({ dataset: 'd', reviewer: 'ana', seed: 1, drawn: [0, 1] });
  await reviews.give('d', review(0, 'keep'));
  await reviews.give('d', review(1, 'reject'));
  await reviews.give('d', review(1, 'unsure'));
  // Another person's file, with one review of a conversation that ana has reviewed too.
  expect(await reviews.add('d', [review(0, 'reject', 'bo'), review(0, 'reject', 'ana')], [0, 3])).toBe(1);
  await reviews.undo('d');
  // A new page reads the same.
  const found = (await new Reviews(new ReviewDatabase(database)).get('d'))!;
  expect(found.drawn).toEqual([0, 1, 3]);
  expect(found.reviews.map(({ reviewer, decision }) => [reviewer, decision])).toEqual([['ana', 'keep'], ['bo', 'reject']]); // prettier-ignore
  await reviews.delete('d');
  expect(await reviews.get('d')).toBeUndefined();
});

test('a file of reviews is read as it was written, and a wrong one is refused with its line', () => {
  const all = [review(0, 'keep'), review(0, 'reject', 'bo'), { ...review(1, 'reject'), reasons: ['goal_done' as const], note: 'x' }];
  expect(readReviews('r.jsonl', writeReviews(all))).toEqual(all);
  const wrong = (change: object) => () => readReviews('r.jsonl', `${writeReviews([review(1, 'keep')])}${JSON.stringify({ ...review(0, 'keep'), ...change })}\n`); // prettier-ignore
  expect(wrong({ decision: 'good' })).toThrow(/line 2, decision.*"good".*expected "keep", "reject", "unsure"/);
  expect(wrong({ reasons: ['bad'] })).toThrow(/line 2, reasons\[0\]/);
  expect(wrong(review(1, 'reject'))).toThrow(/as in line 1: expected one review of a reviewer/);
  expect(() => readReviews('r.jsonl', '\n')).toThrow('it has no review');
});

test('rows without grades get those of the stored reward and audit, and both sides that differ are listed', () => {
  const grades = gradesOf(rows);
  expect(grades.get(0)!.rules.reward.ok).toBe(true);
  expect(grades.get(3)!.rules.reward.ok).toBe(false);
  const reviewing = {
    dataset: 'd', reviewer: 'ana', seed: 1, createdAt: 0, drawn: [3, 0, 1, 2],
    reviews: [review(0, 'keep'), review(1, 'reject'), review(3, 'keep'), review(0, 'reject', 'bo')],
  }; // prettier-ignore
  const reviewed = reviewedOf(reviewing, new Map(rows.map((row) => [row.index, row])), grades);
  expect(disagreements(reviewed)).toEqual([
    { index: 3, sides: ['you: keep', 'rules: reject'] },
    { index: 0, sides: ['you: keep', 'bo: reject', 'rules: keep'] },
    { index: 1, sides: ['you: reject', 'rules: keep'] },
  ]);
  // Of the rows 0 and 1, which the rules keep, one is bad. Nothing is said of row 3.
  expect(errorsLeft(reviewed)).toMatchObject({ checked: 2, bad: 1 });
  expect(errorsLeft([])).toBeNull();
  expect([...drawFrom(rows, 1)].sort()).toEqual([0, 1, 2, 3]);
});

test('a data set keeps the grades and labels of its file', () => {
  const near_miss = { kind: 'extra_write', first_wrong: 4, of: 'shop/9' } as const;
  const notes: string[] = [];
  const line = { ...shopRow(1), near_miss, grades: { rules: 'none' } };
  const [read] = readDataset(JSON.stringify(line), (note) => notes.push(note));
  expect(read).toMatchObject({ near_miss });
  expect(read!.grades).toBeUndefined();
  expect(notes[0]).toMatch('column grades has another form and is left out');
  expect(keptRows([{ ...read!, dataset: 'd', index: 0 }])[0]!.value).toMatchObject({ near_miss });
});
