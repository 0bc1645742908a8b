/** Alarms: each rule fires where its metric breaks it, at the step where this begins, and nowhere else. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { StepMetrics } from '../../../src/records/run.ts';
import { ALARM_METRICS, ALARM_RULES, alarmsOf, alarmText } from '../../../src/training/alarms.ts';

/** A calm run. */
const CALM: Record<string, number> = {
  'actor/kl_loss': 0.02,
  'actor/entropy': 0.1,
  'actor/grad_norm': 0.3,
  'trajectories/valid_query_ratio': 0.6,
  'response_length/clip_ratio': 0.03,
  'tool_call/parse_error_ratio': 0.04,
  'tool_call/loop_ratio': 0.02,
  'claims/unfounded_ratio': 0.1,
  'handover/needless_ratio': 0.05,
  'rollout/failed_ratio': 0,
  'user/fault_rate': 0.02,
  'user/audited': 64,
  'rollout/dropped': 0,
  'violations/per_write': 0.3,
  'critic/rewards/mean': 0.5,
  'critic/score/mean': 0.5,
};

/** Twenty steps. From step 11 on, the metrics have the values of `changed`. */
const run = (changed: Record<string, number> = {}, steps = 20): StepMetrics[] =>
  Array.from({ length: steps }, (_, i) => ({ step: i + 1, ...CALM, ...(i >= 10 && changed) }));

test('a calm run has no alarm, nor has a run that only begins', () => {
  expect(Object.keys(CALM).sort()).toEqual([...ALARM_METRICS].sort());
  expect(alarmsOf(run())).toEqual([]);
  expect(alarmsOf([1, 2].map((step) => ({ step, ...CALM, 'actor/kl_loss': 9 })))).toEqual([]);
  expect(alarmsOf([])).toEqual([]);
  expect(alarmsOf([{ step: 0, 'val-core/retail-nano/reward/mean@1': 0.5 }])).toEqual([]);
  // Metrics that a run lacks raise no alarm.
  expect(alarmsOf(run().map(({ step }) => ({ step })))).toEqual([]);
});

describe.each([
  // rule, what changes at step 11, the step at which the window is worse than the limit
  ['kl_explosion', { 'actor/kl_loss': 0.5 }, 12],
  ['success_collapse', { 'critic/score/mean': 0.02 }, 12],
  ['entropy_collapse', { 'actor/entropy': 0.001 }, 15],
  ['gradient_spike', { 'actor/grad_norm': 4 }, 11],
  ['no_mixed_groups', { 'trajectories/valid_query_ratio': 0 }, 14],
  ['cut_turns', { 'response_length/clip_ratio': 0.3 }, 12],
  ['parse_errors', { 'tool_call/parse_error_ratio': 0.3 }, 12],
  ['tool_loops', { 'tool_call/loop_ratio': 0.5 }, 11],
  ['claims_without_writes', { 'claims/unfounded_ratio': 0.7 }, 11],
  ['handover_inflation', { 'handover/needless_ratio': 0.4 }, 12],
  ['simulator_breakdown', { 'rollout/failed_ratio': 0.4 }, 11],
  ['customer_faults', { 'user/fault_rate': 0.25 }, 11],
  ['reward_hacking', { 'violations/per_write': 0.8, 'critic/rewards/mean': 0.9 }, 12],
] as const)('%s', (rule, changed, from) => {
  test('fires at the step where it begins, alone', () => {
    const alarms = alarmsOf(run(changed));
    expect(alarms.map((alarm) => [alarm.rule, alarm.from])).toEqual([[rule, from]]);
    expect(alarmText(alarms[0]!)).toMatch(new RegExp(`^step ${from}: .* limit `));
  });

  test('ends when the metric is as before', () => {
    const [first] = alarmsOf([...run(changed), ...run({}, 10).map((metrics) => ({ ...metrics, step: metrics.step + 20 }))]);
    expect(first!.to).toBeLessThan(30);
    expect(first!.to).toBeGreaterThanOrEqual(from);
  });

  test('has remedies that name settings or actions', () => {
    expect(ALARM_RULES.find(({ name }) => name === rule)!.remedies.length).toBeGreaterThan(0);
  });
});

describe('a collapse within few updates', () => {
  const starts = (shares: number[], audited: number, dropped?: number) => {
    const counts = { 'user/audited': audited, ...(dropped !== undefined && { 'rollout/dropped': dropped }) };
    return alarmsOf(shares.map((share, i) => ({ step: i + 1, 'response_length/clip_ratio': share, ...counts })));
  };

  // A run of SmolLM2: in step 3, 20 of 32 conversations filled the context. Wilson's interval of 20/32 begins at 0.453.
  test('is an alarm at its step', () => {
    expect(starts([0, 0, 20 / 32, 20 / 32], 32)).toMatchObject([{ rule: 'cut_turns', from: 3, to: 4, value: 0.625, limit: 0.25 }]);
  });

  // The interval of 12/32 begins at 0.229, that of 5/8 at 0.306, and that of 4/8 at 0.215.
  test('is none if the share can be chance', () => {
    expect(starts([0, 0, 12 / 32], 32)).toEqual([]);
    expect(starts([0, 0, 4 / 8], 8)).toEqual([]);
    expect(starts([0, 0, 5 / 8], 8)).toHaveLength(1);
    expect(starts([0.4, 0.4, 20 / 32], 32)).toEqual([]);
  });

  // Of 32 conversations 24 were dropped. The share is 4 of the other 8. The interval of 16/32 begins at 0.336.
  test('is none if the share of the few conversations that are left can be chance', () => {
    expect(starts([0, 0, 4 / 8], 32)).toHaveLength(1);
    expect(starts([0, 0, 4 / 8], 32, 24)).toEqual([]);
    expect(starts([0, 0, 5 / 8], 32, 24)).toHaveLength(1);
    expect(starts([0, 0, 1], 32, 32)).toEqual([]);
  });
});

describe('a collapse of success', () => {
  const starts = (correct: number[], rollouts: number, dropped = 0) =>
    alarmsOf(
      correct.map((count, i) => ({
        step: i + 1,
        'critic/score/mean': count / (rollouts - dropped),
        'user/audited': rollouts,
        'rollout/dropped': dropped,
      })),
    );

  // A third of 16/32 is 0.167. Wilson's interval of 0/64 ends at 0.057, that of 5/64 at 0.170, and that of 4/64 at 0.150.
  test('is an alarm after two steps, and none if it can be chance', () => {
    expect(starts([16, 0], 32)).toEqual([]);
    expect(starts([16, 0, 0], 32)).toMatchObject([{ rule: 'success_collapse', from: 3, to: 3, value: 0 }]);
    expect(starts([16, 0, 5], 32)).toEqual([]);
    expect(starts([16, 0, 4], 32)).toHaveLength(1);
  });

  // The run of ../shared/research/pretrained.md: 0.72, 0.66 and 0.06 of 32. One more such step is a collapse; one hard step is none.
  test('is not one hard step', () => {
    expect(starts([23, 21, 2], 32)).toEqual([]);
    expect(starts([23, 21, 2, 2], 32)).toMatchObject([{ from: 4 }]);
    expect(starts([23, 21, 2, 22, 23], 32)).toEqual([]);
    // A group of eight at a time: two hard tasks in a row.
    expect(starts([5, 6, 4, 0, 0, 6], 8)).toEqual([]);
    expect(starts([5, 0, 6, 8, 0, 0, 6], 8)).toEqual([]);
  });

  // Of 32 conversations 28 were dropped: 0 of 8 in two steps. The interval of 0/8 ends at 0.324.
  test('counts only scored conversations', () => {
    expect(starts([2, 0, 0], 32, 28)).toEqual([]);
    expect(starts([0, 0, 0], 32, 32)).toEqual([]);
  });
});

test('a fall of reward with more violations is no reward hacking', () => {
  expect(alarmsOf(run({ 'violations/per_write': 0.8, 'critic/rewards/mean': 0.4 }))).toEqual([]);
});

/** `scripts/record-failing-runs.mts` recorded the runs of the lesson; the file of `one-hard-world` says how it was made. */
describe('recorded failing runs raise the alarms of their faults', () => {
  test.each<[string, [string, number][]]>([
    [
      'src/app/learn/failing-runs/high-learning-rate.json',
      [
        ['kl_explosion', 3],
        ['no_mixed_groups', 6],
        ['parse_errors', 10],
        ['claims_without_writes', 10],
        ['no_mixed_groups', 11],
      ],
    ],
    [
      'src/app/learn/failing-runs/price-on-length-alone.json',
      [
        ['reward_hacking', 11],
        ['reward_hacking', 19],
      ],
    ],
    ['src/app/learn/failing-runs/greedy-rollouts.json', [['no_mixed_groups', 5]]],
    [
      'src/app/learn/failing-runs/own-successes-alone.json',
      [
        ['cut_turns', 10],
        ['gradient_spike', 11],
        ['parse_errors', 12],
      ],
    ],
    ['src/app/learn/failing-runs/pretrained-high-rate.json', [['success_collapse', 3]]],
    [
      'tests/reference/fixtures/one-hard-world.json',
      [
        ['cut_turns', 37],
        ['parse_errors', 39],
      ],
    ],
  ])('%s', (path, expected) => {
    const file = readFileSync(path, 'utf8');
    const { metrics } = JSON.parse(file) as { metrics: StepMetrics[] };
    expect(alarmsOf(metrics).map(({ rule, from }) => [rule, from])).toEqual(expected);
  });
});

test('the recorded run of most lessons raises no alarm', async () => {
  const { metrics } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  expect(metrics.length).toBeGreaterThan(40);
  expect(alarmsOf(metrics)).toEqual([]);
});
