/** The words for what a run does. */
import { expect, test } from 'vitest';
import { roughTime } from '../../../src/app/kit/format.ts';
import { phasePosition } from '../../../src/app/runs/phase.ts';
import type { RunProgress } from '../../../src/app/clients/trainer-client.svelte.ts';

const at = (step: number, phase: RunProgress['phase'], done = 0, total = 8): RunProgress => ({
  type: 'progress',
  step,
  totalSteps: 10,
  phase,
  done,
  total,
  left: null,
});
test('the position is that of the rollouts, the held-out episodes or the mini-batch under way', () => {
  expect(
    [at(1, 'rollout', 5), at(0, 'evaluate', 0, 32), at(1, 'update', 1, 2), at(1, 'update', 0, 1), at(1, 'score', 0, 64)].map(phasePosition),
  ).toEqual(['5 of 8', '0 of 32', 'mini-batch 2 of 2', '', '']);
});

test('the time left is rounded as an estimate is', () => {
  expect([0, 44, 86, 91, 200, 5300, 7000, 172_000, 200_000].map(roughTime)).toEqual([
    'about 10 s',
    'about 40 s',
    'about 90 s',
    'about 2 min',
    'about 3 min',
    'about 88 min',
    'about 2 h',
    'about 48 h',
    'about 2 days',
  ]);
});
