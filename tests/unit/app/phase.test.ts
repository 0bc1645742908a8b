/** The words for what a run does, and the time that it still takes. */
import { expect, test } from 'vitest';
import { roughTime } from '../../../src/app/kit/format.ts';
import { phasePosition, secondsLeft } from '../../../src/app/runs/phase.ts';
import type { RunProgress } from '../../../src/app/clients/trainer-client.svelte.ts';
import { MetricSeries } from '../../../src/app/run-data/series.ts';
import { grpoConfig } from '../../../src/training/config.ts';

const at = (step: number, phase: RunProgress['phase'], done = 0, total = 8): RunProgress => ({
  type: 'progress',
  step,
  totalSteps: 10,
  phase,
  done,
  total,
});
const CONFIG = grpoConfig('nano', { total_training_steps: 10, train_batch_size: 2, n: 4, val_tasks: 16, test_freq: 4 });

/** Each step takes 40 s for rollouts, 8 s for the reference and 12 s for updates. So an evaluation of 16 episodes takes 80 s. */
function measured(): MetricSeries {
  const series = new MetricSeries();
  for (const step of [1, 2, 3])
    series.put({ step, 'timing_s/step': step === 2 ? 500 : 60, 'timing_s/gen': 40, 'timing_s/ref': 8, 'timing_s/update_actor': 12 });
  return series;
}

test('before a step has ended there is no estimate', () => {
  expect(secondsLeft(new MetricSeries(), CONFIG, at(1, 'rollout'))).toBeNull();
});

test.each([
  // The time left is the rest of the last step and the evaluation at the end.
  [at(10, 'rollout', 0), 60 + 80],
  [at(10, 'rollout', 6), 30 + 80],
  [at(10, 'score', 0), 20 + 80],
  [at(10, 'update', 1, 2), 6 + 80],
  [at(10, 'evaluate', 4, 16), 60],
  // Steps 8, 9 and 10 and the evaluations after steps 8 and 10 are left. The slow step 2 does not count.
  [at(8, 'rollout', 0), 3 * 60 + 2 * 80],
  [at(8, 'evaluate', 8, 16), 40 + 2 * 60 + 80],
  [at(7, 'compile', 0, 1), 3 * 60 + 2 * 80],
])('%o', (progress, seconds) => expect(secondsLeft(measured(), CONFIG, progress)).toBeCloseTo(seconds));

test('a run without evaluations, and one that is evaluated only at its end', () => {
  const left = (more: object) => secondsLeft(measured(), { ...CONFIG, ...more }, at(8, 'rollout'));
  expect(left({ val_tasks: 0 })).toBeCloseTo(180);
  expect(left({ test_freq: 0 })).toBeCloseTo(180 + 80);
});

test('the position is that of the rollouts, the held-out episodes or the mini-batch under way', () => {
  expect(
    [at(1, 'rollout', 5), at(0, 'evaluate', 0, 32), at(1, 'update', 1, 2), at(1, 'update', 0, 1), at(1, 'score', 0, 64)].map(phasePosition),
  ).toEqual(['5 of 8', '0 of 32', 'mini-batch 2 of 2', '', '']);
});

test('the time left is rounded as an estimate is', () => {
  expect([0, 44, 86, 91, 200, 5300, 7000].map(roughTime)).toEqual([
    'about 10 s',
    'about 40 s',
    'about 90 s',
    'about 2 min',
    'about 3 min',
    'about 88 min',
    'about 2 h',
  ]);
});
