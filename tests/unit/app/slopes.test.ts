/** The slope chart of two evaluations. */
import { expect, test } from 'vitest';
import { slopesOf } from '../../../src/app/evals/slopes.ts';
import { pairTrials } from '../../../src/evaluation/paired.ts';
import type { TrialResult } from '../../../src/records/evaluation.ts';

const trials = (rewards: Record<string, number[]>) =>
  Object.entries(rewards).flatMap(([task, all]) =>
    all.map((reward, index) => ({ task, index, intent: '', reward, violations: [] }) as unknown as TrialResult),
  );
const slopes = (before: Record<string, number[]>, after: Record<string, number[]>) => slopesOf(pairTrials(trials(before), trials(after)));

test('tasks with the same success before and after share a line, and thin lines are drawn last', () => {
  expect(slopes({ a: [0], b: [0], c: [1], d: [1] }, { a: [1], b: [1], c: [0], d: [1] })).toEqual([
    { before: 0, after: 1, tasks: 2 },
    { before: 1, after: 0, tasks: 1 },
    { before: 1, after: 1, tasks: 1 },
  ]);
  expect(slopes({}, {})).toEqual([]);
});

test('a line is a task, not a trial: trials that changed places change nothing', () => {
  expect(slopes({ a: [0, 1], b: [0, 0, 0, 1] }, { a: [1, 0], b: [1, 1, 1, 0] })).toEqual([
    { before: 0.5, after: 0.5, tasks: 1 },
    { before: 0.25, after: 0.75, tasks: 1 },
  ]);
});
