/** Fault rates by simulator, and the rewards that faults can have cost. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { customerQuality, isRewardDenied, qualityBySimulator } from '../../../src/evaluation/customer-quality.ts';
import { resultOf } from '../../../src/evaluation/trial-result.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { TrialResult } from '../../../src/records/evaluation.ts';
import type { RowChange } from '../../../src/records/task.ts';
import type { UserConfig } from '../../../src/records/user.ts';
import { message, tasksFor, trajectoryOf } from '../../support/customer-conversations.ts';

const [task] = tasksFor('upfront', 'nano', 1, 1);
const row = (key: string, after: string, call: number): RowChange => ({ table: 'orders', key, before: null, after, call });
const wrote = (id: number, index: number) =>
  message(id, 'tool', '{}', { toolResult: { name: 'cancel_pending_order', error: false, index, changes: [], ms: 0 } });
const nodes = [
  message(0, 'system', ''),
  message(1, 'user', 'Hi.'),
  wrote(2, 0),
  message(3, 'user', 'Hm.'),
  wrote(4, 1),
  message(5, 'user', 'Bye.'),
];
const fault = (at: number) => [{ kind: 'invented_fact' as const, message: at, detail: '' }];
const played = (reward: number, changes: RowChange[], goal: RowChange[]) =>
  trajectoryOf(task!, nodes, 'user_stop', { reward, verdict: { reward: reward as 0 | 1, changes, goal, progress: 0 } });

test('a reward is denied only by a fault before the first wrong change, or before the end if only something is missing', () => {
  const wrong = played(0, [row('a', 'right', 0), row('b', 'wrong', 1)], [row('a', 'right', 7)]);
  expect([1, 3, 5].map((at) => isRewardDenied(wrong, fault(at)))).toEqual([true, true, false]);
  const first = played(0, [row('a', 'wrong', 0)], [row('a', 'right', 7)]);
  expect([1, 3, 5].map((at) => isRewardDenied(first, fault(at)))).toEqual([true, false, false]);
  expect(isRewardDenied(played(0, [], [row('a', 'right', 7)]), fault(5))).toBe(true);
  expect(isRewardDenied(played(1, [], []), fault(1))).toBe(false);
  expect(isRewardDenied(wrong, [])).toBe(false);
});

test('rates have Wilson’s intervals; a kind counts once for each conversation', () => {
  const results: Pick<TrialResult, 'reward' | 'faults' | 'denied'>[] = [
    { reward: 0, faults: ['invented_fact', 'invented_fact', 'cut_answer'], denied: true },
    { reward: 1, faults: ['cut_answer'] },
    ...Array.from({ length: 8 }, () => ({ reward: 0, faults: [] })),
  ];
  const quality = customerQuality(results);
  expect(quality).toMatchObject({ episodes: 10, faulty: 2, wrong: 9, denied: 1, kinds: { invented_fact: 1, cut_answer: 2 } });
  expect(quality.rate!.value).toBe(0.2);
  // Brown, Cai and DasGupta 2001: Wilson's interval of 2 of 10.
  expect(quality.rate!.low).toBeCloseTo(0.0567, 3);
  expect(quality.rate!.high).toBeCloseTo(0.5098, 3);
  expect(customerQuality([])).toMatchObject({ rate: null, deniedRate: null });

  const scripted: UserConfig = { mode: 'scripted' };
  const model: UserConfig = { mode: 'endpoint', baseUrl: 'http://a/v1', model: 'm' };
  const rows = [scripted, model, scripted].map((user, i) => ({ settings: { user }, results: results.slice(i, i + 1) }));
  expect(qualityBySimulator(rows).map(({ simulator, quality: { episodes, faulty } }) => [simulator, episodes, faulty])).toEqual([
    ['Scripted customer', 2, 1],
    ['m at http://a/v1', 1, 1],
  ]);
});

test.each(['run', 'timeouts'])('the scripted customers of the recorded run “%s” have no fault', async (name) => {
  const { trajectories, trials } = await readRunBundle(new Uint8Array(readFileSync(`public/recorded/${name}.mua.zip`)));
  const all = [...trajectories, ...trials];
  expect(all.length).toBeGreaterThan(100);
  expect(
    all
      .map(resultOf)
      .filter(({ faults }) => faults!.length > 0)
      .map(({ id, faults }) => [id, faults]),
  ).toEqual([]);
});
