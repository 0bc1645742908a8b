import { expect, test } from 'vitest';
import { fromHalf, toHalf } from '../../../src/base/half.ts';

const finite = Array.from({ length: 0x7c00 }, (_, h) => h);
const values = (of: (h: number) => number) => Float32Array.from(finite, of);

test('every finite half keeps its value', () => {
  expect([...toHalf(values(fromHalf))]).toEqual(finite);
  expect([...toHalf(values((h) => -fromHalf(h)))]).toEqual(finite.map((h) => h | 0x8000));
});

test('a value between two halves goes to the nearer one, a tie to the even one', () => {
  const upper = (h: number) => (h === 0x7bff ? 65_536 : fromHalf(h + 1));
  const between = (share: number) => [...toHalf(values((h) => fromHalf(h) * (1 - share) + upper(h) * share))];
  expect(between(0.5)).toEqual(finite.map((h) => h + (h & 1)));
  expect(between(0.49)).toEqual(finite);
  expect(between(0.51)).toEqual(finite.map((h) => h + 1)); // after the largest half comes infinity
});
