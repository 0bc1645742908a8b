/** The numbers of a report that a benchmark computes in its own way. */
import { expect, test } from 'vitest';
import type { EvaluationReport } from '../../../src/records/evaluation.ts';
import { withScore } from '../../../src/trainer/benchmark-score.ts';

const report = (by_intent: EvaluationReport['by_intent'], derived?: string) =>
  ({ by_intent, ...(derived !== undefined && { derived }) }) as EvaluationReport;
const groups = (process: number) => ({
  'en multi_turn': { tasks: 30, pass_hat_1: 0.5, process },
  'en multi_step': { tasks: 20, pass_hat_1: 0.25, process: 2 / 3 },
});

// Python's round(x, 3) gives 0.062, 0.812 and 0.667.
test.each([
  [0.0625, 0.062],
  [0.8125, 0.812],
])('ACEBench rounds the process score %s of a set to %s, as upstream', (given, rounded) => {
  const { by_intent, score } = withScore(report(groups(given)), 'acebench-agent');
  expect(by_intent['en multi_turn']).toEqual({ tasks: 30, pass_hat_1: 0.5, process: rounded });
  expect(by_intent['en multi_step']!.process).toBe(0.667);
  expect(score).toEqual({ name: 'Agent', value: 0.375 });
});

test('derived results have no official score, and other domains are as they were', () => {
  const all = Object.fromEntries(
    ['base', 'miss_func', 'miss_param', 'long_context'].map((name) => [name, { tasks: 200, pass_hat_1: 0.5, process: 1 / 3 }]),
  );
  expect(withScore(report(all), 'bfcl-multiturn').score).toEqual({ name: 'Multi Turn', value: 0.5 });
  expect(withScore(report(all, 'BFCL-derived, compact'), 'bfcl-multiturn')).toEqual(report(all, 'BFCL-derived, compact'));
  expect(withScore(report(all), 'retail')).toEqual(report(all));
});
