/** Estimates of success: what the stored rollouts say about a turn, and which weights sample new ones. */
import { expect, test } from 'vitest';
import { estimatesOf, nearestWeights, streamsUsed } from '../../../src/app/conversation/estimates/estimate.ts';
import { listWeights } from '../../../src/app/library/weights.ts';
import type { BranchRow } from '../../../src/records/branch.ts';
import type { ModelRow } from '../../../src/records/model.ts';
import type { RunRow } from '../../../src/records/run.ts';
import { TINY } from '../../support/tiny-config.ts';

const PLAYERS = { weights: 'r@20', customer: 'scripted' };
const row = (shared: number, reward: 0 | 1 | null, stream: number, estimate: object | null = PLAYERS) =>
  ({
    shared,
    batch: 'b',
    model: 'brisk-otter@20',
    trajectory: { reward },
    ...(estimate && { estimate: { ...estimate, stream } }),
  }) as unknown as BranchRow;

test('the share of correct rollouts with its interval, turn by turn', () => {
  const rows = [1, 1, 1, 1, 1, 0, 0, 0].map((reward, i) => row(4, reward as 0 | 1, i));
  const estimates = estimatesOf([...rows, row(6, 1, 0)], PLAYERS);
  expect([...estimates.keys()]).toEqual([4, 6]);
  const { low, high, ...five } = estimates.get(4)!;
  expect(five).toEqual({ correct: 5, of: 8, weights: 'r@20', model: 'brisk-otter@20' });
  // The expected values are Wilson's interval for 5 of 8.
  expect([low, high].map((end) => end.toFixed(3))).toEqual(['0.306', '0.863']);
  expect(estimates.get(6)).toMatchObject({ correct: 1, of: 1, high: 1 });
});

test('a rollout without a reward does not count; nor does a branch that was played for another reason', () => {
  expect(estimatesOf([row(4, null, 0)], PLAYERS).size).toBe(0);
  const estimate = estimatesOf([row(4, 1, 0), row(4, null, 1), row(4, 0, 2, null)], PLAYERS).get(4);
  expect(estimate).toMatchObject({ correct: 1, of: 1 });
});

test('other weights and other customers are not mixed: the wanted ones first, else the newest', () => {
  const other = { weights: 'r@40', customer: 'scripted' };
  const person = { weights: 'r@20', customer: 'qwen3:8b' };
  const rows = [row(4, 1, 0), row(4, 0, 0, other), row(4, 0, 0, person), row(4, 0, 1, person)];
  expect(estimatesOf(rows, PLAYERS).get(4)).toMatchObject({ correct: 1, of: 1 });
  expect(estimatesOf(rows, other).get(4)).toMatchObject({ correct: 0, of: 1, weights: 'r@40' });
  for (const wanted of [null, { weights: 'r@60', customer: 'scripted' }])
    expect(estimatesOf(rows, wanted).get(4)).toMatchObject({ correct: 0, of: 2, weights: 'r@20' });
});

test('new rollouts get streams that no stored rollout of the turn has', () => {
  expect(streamsUsed([], 4, PLAYERS)).toBe(0);
  // Stream 6 was deleted.
  const rows = [row(4, 1, 5), row(4, 1, 7), row(6, 1, 30), row(4, 1, 50, { ...PLAYERS, weights: 'other' }), row(4, 1, 90, null)];
  expect(streamsUsed(rows, 4, PLAYERS)).toBe(8);
});

const RUN = { id: 'r', name: 'brisk-otter', step: 40, request: { model: 'nano-retail' }, config: {} } as unknown as RunRow;
const kept = (id: string) => ({ id, name: id, run: 'r', config: TINY }) as ModelRow;
const at = (step: number, checkpoints: [string, number][], models: ModelRow[] = [], run = RUN) => {
  const found = nearestWeights(run, step, listWeights([run], checkpoints, models));
  return found && [found.weights.name, found.step, found.exact];
};

test('the weights that sampled a rollout of step 21 are those after step 20; else the nearest', () => {
  const steps: [string, number][] = [
    ['r', 20],
    ['r', 40],
  ];
  expect(at(21, steps)).toEqual(['brisk-otter@20', 20, true]);
  expect(at(27, steps)).toEqual(['brisk-otter@20', 20, false]);
  expect(at(35, steps)).toEqual(['brisk-otter@40', 40, false]);
  expect(at(30, steps, [kept('r-step-30')])).toEqual(['r-step-30', 30, false]);
});

test('the weights before training sampled step 1, and are the nearest for early steps', () => {
  expect(at(1, [['r', 40]])).toEqual(['nano-retail', 0, true]);
  expect(at(3, [['r', 40]])).toEqual(['nano-retail', 0, false]);
  const fresh = { ...RUN, config: { init_weights: 'zero' } } as unknown as RunRow;
  expect(at(1, [['r', 40]], [], fresh)).toEqual(['brisk-otter@40', 40, false]);
});

test('without trained weights of the run there is no estimate after the first step', () => {
  expect(at(1, [])).toEqual(['nano-retail', 0, true]);
  expect(at(2, [['other', 2]])).toBeNull();
});

test('the recorded run has the bundled weights of its last step', () => {
  const recorded = { ...RUN, id: 'recorded' };
  expect(at(38, [], [], recorded)).toEqual(['nano-retail-grpo', 40, false]);
  expect(at(1, [], [], recorded)).toEqual(['nano-retail', 0, true]);
});
