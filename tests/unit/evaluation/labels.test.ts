/** Which conversations are labelled, and how judges agree with the labels. */
import { expect, test } from 'vitest';
import type { DomainLayers } from '../../../src/agent/layers.ts';
import { calibrate, type Verdicts, verdictsOf } from '../../../src/evaluation/labels/calibration.ts';
import { draw } from '../../../src/evaluation/labels/draw.ts';
import type { TrialResult } from '../../../src/records/evaluation.ts';
import { foreignTask } from '../../../src/records/task.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';

const result = (id: string, reward: number | null, termination: TrialResult['termination'] = 'user_stop'): TrialResult => ({ id, reward, termination, task: id, index: 0, intent: '', turns: 1, tokens: 1, violations: [], writes: 0, faults: [] }); // prettier-ignore
const RESULTS = Array.from({ length: 400 }, (_, i) =>
  result(`t${i}`, i < 37 ? 0 : i < 390 ? 1 : null, i < 390 ? 'user_stop' : 'user_error'),
);
const rewardOf = new Map(RESULTS.map(({ id, reward }) => [id, reward]));

test('the draw has the outcomes in the shares of the evaluation, without conversations that failed', () => {
  const ids = draw(RESULTS, 7);
  expect(new Set(ids).size).toBe(100);
  // 100 · 37 / 390 = 9.49 and 100 · 353 / 390 = 90.51
  expect(ids.filter((id) => rewardOf.get(id) === 0)).toHaveLength(9);
  expect(ids.filter((id) => rewardOf.get(id) === 1)).toHaveLength(91);
  expect(draw(RESULTS, 7)).toEqual(ids);
  expect(draw(RESULTS, 8)).not.toEqual(ids);
  // The outcomes are mixed, so that the order tells nothing.
  const places = ids.flatMap((id, i) => (rewardOf.get(id) === 0 ? [i] : []));
  expect(Math.max(...places) - Math.min(...places)).toBeGreaterThan(30);
});

test('fewer conversations than wanted are all drawn; unknown outcomes of other tools count', () => {
  expect(draw(RESULTS.slice(30, 40), 1).toSorted()).toEqual(RESULTS.slice(30, 40).map(({ id }) => id).toSorted()); // prettier-ignore
  expect(draw([result('a', null, 'unknown')], 1)).toEqual(['a']);
  expect(draw([], 1)).toEqual([]);
});

const TRAJECTORY = {
  task: { ...foreignTask('t'), domain: 'retail' },
  nodes: [{ id: 0, parent: null, role: 'user', text: 'Hi', tokens: [], mask: [], logprobs: [] }],
  leaf: 0,
  reward: 0,
  verdict: null,
  violations: [],
} as unknown as Trajectory;

test('the verdicts are those that the conversation has', () => {
  const layers: DomainLayers = {
    safety: () => ({ findings: [{ rule: 'leak', sentence: null, message: 0, detail: '' }], occasions: { leak: 1 } }),
  };
  const judged = { model: 'm', checked: [], found: ['contradicted' as const] };
  expect(verdictsOf('outcome', TRAJECTORY, {})).toEqual({ 'the reward': false });
  expect(verdictsOf('outcome', { ...TRAJECTORY, reward: null }, {})).toEqual({});
  expect(verdictsOf('safety', TRAJECTORY, layers)).toEqual({ 'the rules of the layer safety': false });
  expect(verdictsOf('recovery', TRAJECTORY, layers)).toEqual({});
  expect(verdictsOf('policy', TRAJECTORY, {})).toEqual({ 'the audit': true });
  expect(verdictsOf('customer', TRAJECTORY, {})).toEqual({});
  expect(verdictsOf('customer', { ...TRAJECTORY, customerJudgement: judged }, {})).toEqual({ 'the judge of the customer': false });
  expect(verdictsOf('customer', { ...TRAJECTORY, customerJudgement: { ...judged, error: 'x' } }, {})).toEqual({});
});

test('each judge is compared with the labels that were not skipped', () => {
  const label = (conversation: string, given: 0 | 1 | null) => ({ conversation, label: given, at: 0 });
  const labels = [label('a', 1), label('b', 0), label('c', null), label('d', 1)];
  const verdicts = new Map<string, Verdicts>([['a', { x: true, y: false }], ['b', { x: true }], ['c', { x: true }], ['e', { z: true }]]); // prettier-ignore
  const [x, y, ...others] = calibrate({ labels }, verdicts);
  expect(x).toMatchObject({ judge: 'x', agreement: { cells: { yes: 1, label: 0, judge: 1, no: 0 } }, differences: [{ conversation: 'b', label: false }] }); // prettier-ignore
  expect(y).toMatchObject({ judge: 'y', agreement: { n: 1 }, differences: [{ conversation: 'a', label: true }] });
  expect(others).toEqual([]);
});
