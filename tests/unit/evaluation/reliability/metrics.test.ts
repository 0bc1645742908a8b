/**
 * The metrics of the reliability card. Where no arithmetic is shown, the values are those of NumPy 2.2.6, SciPy 1.15.3
 * (`scipy.spatial.distance.jensenshannon`, `scipy.stats.t`) and scikit-learn 1.7.2 (`roc_auc_score`, `brier_score_loss`).
 */
import { describe, expect, it, test } from 'vitest';
import {
  distributionConsistency,
  outcomeConsistency,
  type Resources,
  resourceConsistency,
  sequenceConsistency,
} from '../../../../src/evaluation/reliability/consistency.ts';
import { brier, calibration, calibrationBins, discrimination, type Rated } from '../../../../src/evaluation/reliability/predictability.ts';
import { keptSuccess } from '../../../../src/evaluation/reliability/robustness.ts';

const A = ['find', 'get', 'get', 'cancel'];
const B = ['find', 'get', 'cancel'];
const C = ['get', 'find', 'pay'];

describe('consistency', () => {
  it.each([
    [[true, true, true, true], 1],
    [[false, false, false], 1],
    [[true, false], 0],
    [[true, true, true, false], 0.25], // (2 · 0.75 − 1)²
    [[true], null],
  ])('of the outcomes %j is %j', (outcomes, value) => {
    expect(outcomeConsistency(outcomes)).toBe(value);
  });
  it.each([
    [[A, B], 0.8801559698435223],
    [[A, B, C], 0.6457906654758656],
    [[['a'], ['b']], 0.1674453888423023], // 1 − √ln 2
    [[A, ['cancel', 'get', 'find', 'get']], 1],
    [[A, [], B], 0.8801559698435223],
  ])('of the tools of %j is %d', (sequences, value) => {
    expect(distributionConsistency(sequences)).toBeCloseTo(value, 12);
  });
  it.each([
    [[A, B], 0.75], // one of four calls more
    [[B, A], 0.75],
    [[A, B, C], 0.3333333333333333],
    [[['a'], ['b']], 0],
    [
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      0,
    ], // two substitutions
    [[A, [...A]], 1],
  ])('of the order of %j is %d', (sequences, value) => {
    expect(sequenceConsistency(sequences)).toBeCloseTo(value, 12);
  });
  it('needs two trials with calls', () => {
    for (const value of [distributionConsistency, sequenceConsistency])
      expect([value([]), value([A]), value([A, []])]).toEqual([null, null, null]);
  });
  it('of the resources has the mean variation of their kinds, without unused ones', () => {
    const trials: Resources[] = [
      { tokens: 100, turns: 5, calls: 4, errors: 0 },
      { tokens: 140, turns: 7, calls: 0, errors: 1 },
      { tokens: 90, turns: 6, calls: 3, errors: 0 },
    ];
    expect(resourceConsistency(trials)).toBeCloseTo(0.5569288932699973, 12);
    const same = { tokens: null, turns: 5, calls: 2, errors: 0 };
    expect(resourceConsistency([same, same])).toBe(1);
    expect(resourceConsistency([same])).toBeNull();
    expect(resourceConsistency([])).toBeNull();
  });
});

const rated = (confidences: readonly number[], won: string): Rated[] =>
  confidences.map((confidence, i) => ({ customer: `${i}`, confidence, success: won[i] === '1' }));
const TRIALS = rated([0.95, 0.9, 0.85, 0.72, 0.71, 0.66, 0.55, 0.52, 0.31, 0.12, 1, 0.72], '110101010010');

describe('predictability', () => {
  it('has the values of scikit-learn, with intervals', () => {
    const [c, d, b] = [calibration(TRIALS)!, discrimination(TRIALS)!, brier(TRIALS)!];
    const values = [c.value, c.low, c.high, d.value, d.low, d.high, b.value, b.low, b.high];
    const expected = [0.7508333333, 0.448668539, 1, 0.7638888889, 0.42803, 0.927635, 0.7837583333, 0.5499501362, 0.9364927209];
    values.forEach((value, i) => expect(value, `value ${i}`).toBeCloseTo(expected[i]!, 5));
  });
  it('puts the confidence 1 into the last bin, and leaves empty bins out', () => {
    expect(calibrationBins(TRIALS).map(({ from, n, success }) => [from, n, Number(success.toFixed(3))])).toEqual([
      [0.1, 1, 0],
      [0.3, 1, 0],
      [0.5, 2, 0.5],
      [0.6, 1, 1],
      [0.7, 3, 0.333],
      [0.8, 1, 0],
      [0.9, 3, 1],
    ]);
  });
  it('tells apart: ties count half, and a perfect order still has a width', () => {
    expect(discrimination(rated([0.5, 0.5], '10'))!.value).toBe(0.5);
    const perfect = discrimination(rated([0.9, 0.8, 0.7, 0.65, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1], '1111100000'))!;
    expect([perfect.value, perfect.high]).toEqual([1, 1]);
    expect(perfect.low).toBeCloseTo(0.642705, 5);
    const reversed = discrimination(rated([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], '1111100000'))!;
    expect([reversed.value, reversed.low]).toEqual([0, 0]);
    expect(reversed.high).toBeCloseTo(1 - 0.642705, 5);
  });
  it('says nothing without both outcomes, or without trials', () => {
    expect(discrimination(rated([0.5, 0.6], '11'))).toBeNull();
    expect([calibration([]), brier([]), discrimination([]), calibrationBins([])]).toEqual([null, null, null, []]);
  });
  it('has a width for equal trials, and counts the trials of a customer together', () => {
    const equal = rated(
      Array.from({ length: 20 }, () => 0.9),
      '1'.repeat(20),
    );
    const [c, b] = [calibration(equal)!, brier(equal)!];
    expect(c.value).toBeCloseTo(0.9, 12);
    expect(b.value).toBeCloseTo(0.99, 12);
    for (const { value, low, high } of [c, b]) expect(low < value && value < high).toBe(true);
    const one = brier(TRIALS.map((trial) => ({ ...trial, customer: 'one' })))!;
    expect([one.low, one.high]).toEqual([0, 1]);
  });
});

describe('kept success', () => {
  const trials = (shares: readonly number[]) =>
    shares.flatMap((share, t) => Array.from({ length: 4 }, (_, i) => ({ task: `${t}`, customer: `${t}`, success: i < 4 * share })));
  const plain = trials([1, 0.5, 1, 0.75, 0.25, 1, 0, 1]);
  test('is the ratio with the interval of a paired test', () => {
    const kept = keptSuccess(plain, trials([0.5, 0.5, 0.75, 0.25, 0.25, 1, 0, 0.5]))!;
    expect(kept.value).toBeCloseTo(3.75 / 5.5, 12);
    expect([kept.low, kept.high, kept.n]).toEqual([0.282, 1, 8]);
  });
  test('is at most 1, and at least 0', () => {
    expect(keptSuccess(trials([0.25, 0.25, 0, 0.25]), trials([1, 1, 1, 1]))).toMatchObject({ value: 1, high: 1 });
    expect(keptSuccess(plain, trials([0, 0, 0, 0, 0, 0, 0, 0]))).toMatchObject({ value: 0, low: 0 });
  });
  test('takes only tasks that were scored under both conditions', () => {
    const kept = keptSuccess(plain, trials([0.5]))!;
    expect([kept.value, kept.n, kept.low, kept.high]).toEqual([0.5, 1, 0, 1]);
  });
  test('is unknown if nothing succeeded, or if no task is common', () => {
    expect(keptSuccess(trials([0, 0]), trials([1, 1]))).toBeNull();
    expect(keptSuccess(plain, [])).toBeNull();
  });
});
