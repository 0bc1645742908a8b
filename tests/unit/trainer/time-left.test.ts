/** The time that a run still takes: before its first step from the estimate, then from its finished steps. */
import { expect, test } from 'vitest';
import type { StepMetrics } from '../../../src/records/run.ts';
import { runSeconds, TimeLeft } from '../../../src/trainer/time-left.ts';
import { grpoConfig } from '../../../src/training/config.ts';

const CONFIG = grpoConfig('nano', { total_training_steps: 10, train_batch_size: 2, n: 4, val_tasks: 16, test_freq: 4 });
/** Each step takes 40 s for rollouts, 8 s for the reference and 12 s for updates. So an evaluation of 16 episodes takes 80 s. */
const STEPS: StepMetrics[] = [1, 2, 3].map((step) => ({
  step,
  'timing_s/step': step === 2 ? 500 : 60,
  'timing_s/gen': 40,
  'timing_s/ref': 8,
  'timing_s/update_actor': 12,
}));
const ESTIMATE = { step: 100, gen: 30, ref: 20, evaluation: 70 };
type Where = Parameters<TimeLeft['at']>;

test.each<[Where, number]>([
  // The time left is the rest of the last step and the evaluation at the end.
  [[10, 'rollout', 0, 8], 60 + 80],
  [[10, 'rollout', 6, 8], 30 + 80],
  [[10, 'score', 0, 8], 20 + 80],
  [[10, 'update', 1, 2], 6 + 80],
  [[10, 'evaluate', 4, 16], 60],
  // Steps 8, 9 and 10 and the evaluations after steps 8 and 10 are left. The slow step 2 does not count.
  [[8, 'rollout', 0, 8], 3 * 60 + 2 * 80],
  [[8, 'evaluate', 8, 16], 40 + 2 * 60 + 80],
  [[7, 'compile', 0, 1], 3 * 60 + 2 * 80],
])('after three steps, at %o', (where, seconds) => {
  // Once a step has ended, the estimate no longer counts.
  expect(new TimeLeft(CONFIG, ESTIMATE, [{ step: 0 }, ...STEPS]).at(...where)).toBeCloseTo(seconds);
});

test('before the first step has ended, the estimate counts', () => {
  const left = new TimeLeft(CONFIG, ESTIMATE, []);
  const steps = 10 * 100 + 3 * 70;
  expect(left.at(0, 'compile', 0, 1)).toBe(70 + steps);
  expect(left.at(0, 'evaluate', 8, 16)).toBe(35 + steps);
  left.add({ step: 0 });
  expect(left.at(1, 'rollout', 4, 8)).toBe(steps - 15);
  expect(left.at(1, 'update', 0, 1)).toBe(steps - 50);
  left.add(STEPS[0]!);
  expect(left.at(2, 'rollout', 0, 8)).toBe(9 * 60 + 3 * 80);
  expect(new TimeLeft(CONFIG, null, []).at(1, 'rollout', 0, 8)).toBeNull();
});

test('a run that does not evaluate before training, one without evaluations, and one without steps', () => {
  expect(runSeconds(ESTIMATE, { ...CONFIG, val_before_train: false })).toBe(10 * 100 + 3 * 70);
  expect(runSeconds(ESTIMATE, { ...CONFIG, val_tasks: 0 })).toBe(1000);
  expect(runSeconds(ESTIMATE, { ...CONFIG, test_freq: 0 })).toBe(1000 + 2 * 70);
  expect(runSeconds(ESTIMATE, { ...CONFIG, total_training_steps: 0, val_before_train: false })).toBe(70);
});

test('supervised steps sample nothing, so their evaluations keep the estimate', () => {
  const left = new TimeLeft({ ...CONFIG, algorithm: 'sft' }, { ...ESTIMATE, gen: 0, ref: 0 }, [{ step: 1, 'timing_s/step': 10 }]);
  expect(left.at(10, 'update', 0, 1)).toBe(10 + 70);
});

test('after a resume, the steps from before it count only until one has ended', () => {
  const left = new TimeLeft(CONFIG, ESTIMATE, [{ step: 0 }, ...STEPS]);
  expect(left.at(10, 'rollout', 0, 8)).toBe(60 + 80);
  // This device takes twice as long.
  left.add({ step: 4, 'timing_s/step': 120, 'timing_s/gen': 80, 'timing_s/ref': 16 });
  expect(left.at(10, 'rollout', 0, 8)).toBe(120 + 160);
});
