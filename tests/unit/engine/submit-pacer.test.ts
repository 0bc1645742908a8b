import { expect, test } from 'vitest';
import { SubmitPacer } from '../../../src/engine/submit-pacer.ts';

const paced = (rate: number): SubmitPacer => Object.assign(new SubmitPacer(true), { rate });

test('a submit holds at most 50 ms of estimated work, and at least one dispatch', () => {
  expect(paced(1).cut([20, 20, 20, 50, 1, 120, 5, 5])).toEqual([2, 3, 4, 5, 6, 8]);
  expect(paced(1000).cut([20, 20, 20, 50])).toEqual([4]);
  expect(paced(1).cut([])).toEqual([]);
  // An item without work, which writes zeros, is submitted too.
  expect(paced(1).cut([0])).toEqual([1]);
  expect(paced(1).cut([120, 0])).toEqual([1, 2]);
});

test('a measurement changes the rate by a factor of at most two', () => {
  const pacer = paced(100);
  pacer.measured(15_000, 100);
  expect(pacer.rate).toBe(150);
  pacer.measured(1_000_000, 100);
  expect(pacer.rate).toBe(300);
  pacer.measured(100, 100);
  expect(pacer.rate).toBe(150);
});

test('latency of a short run does not lower the rate', () => {
  const pacer = paced(100);
  pacer.measured(10, 8);
  expect(pacer.rate).toBe(100);
  pacer.measured(1500, 0);
  expect(pacer.rate).toBe(150);
});

// 28 layers of Qwen3-0.6B on 2,048 tokens, forward and backward: about 7 TFLOP in 600 dispatches.
const PROGRAM = Array.from({ length: 28 * 3 }, () => [17e9, 8.6e9, 26e9, 13e9, 17e9, 1e6, 1e6]).flat();

test.each([
  ['a slow integrated GPU', 5e6],
  ['a laptop', 4e8],
  ['a workstation', 2e10],
])('no submit of several dispatches reaches the 2 s of Windows on %s', (_, speed) => {
  const pacer = new SubmitPacer(false);
  let submits = 0;
  for (let run = 0; run < 30; run++) {
    let from = 0;
    const ends = pacer.cut(PROGRAM);
    for (const end of ends) {
      const pieces = PROGRAM.slice(from, end);
      const ms = pieces.reduce((sum, own) => sum + own, 0) / speed;
      if (pieces.filter((work) => work > 1e6).length > 1) expect(ms).toBeLessThan(300);
      from = end;
    }
    expect(from).toBe(PROGRAM.length);
    submits = ends.length;
    const total = PROGRAM.reduce((sum, own) => sum + own, 0);
    pacer.measured(total, total / speed);
  }
  // After some runs a submit takes about 50 ms, or one dispatch.
  const total = PROGRAM.reduce((sum, own) => sum + own, 0) / speed;
  expect(submits).toBeLessThanOrEqual(Math.max(PROGRAM.length, total / 25));
  expect(submits).toBeGreaterThanOrEqual(Math.min(total / 50, PROGRAM.length / 7));
});
