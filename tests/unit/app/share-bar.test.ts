/** The bar of customers: moved borders, keys, and its words. */
import { describe, expect, test } from 'vitest';
import { allConditionsText, conditionsText, sameConditions } from '../../../src/app/labels/conditions.ts';
import { levelConditions } from '../../../src/domains/registry.ts';
import { bordersOf, moveBorder, positionAfterKey } from '../../../src/app/kit/share-bar.ts';

const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 9));

describe('a border', () => {
  const shares = [0.5, 0.3, 0.2];

  test('lies at the running sum of the shares', () => expect(bordersOf(shares)).toEqual(near([0.5, 0.8])));

  test('changes only its two neighbours', () => {
    expect(moveBorder(shares, 0, 0.6)).toEqual([0.6, 0.2, 0.2]);
    expect(moveBorder(shares, 1, 0.7)).toEqual([0.5, 0.2, 0.3]);
  });

  test('pushes the borders in its way', () => {
    expect(moveBorder(shares, 0, 0.9)).toEqual([0.9, 0, 0.1]);
    expect(moveBorder(shares, 1, 0.25)).toEqual([0.25, 0, 0.75]);
  });

  test('stops at the ends, at whole percents; the shares sum to 1', () => {
    expect(moveBorder(shares, 0, -3)).toEqual([0, 0.8, 0.2]);
    expect(moveBorder(shares, 1, 7)).toEqual([0.5, 0.5, 0]);
    expect(moveBorder([0.333333, 0.333333, 0.333334], 0, 0.4567)).toEqual([0.46, 0.206666, 0.333334]);
    // A part of share 0 at the end can be opened again.
    expect(moveBorder([0.5, 0.5, 0], 1, 0.9)).toEqual([0.5, 0.4, 0.1]);
  });

  test('moves by key as a slider does', () => {
    expect(['ArrowRight', 'ArrowUp', 'ArrowLeft', 'ArrowDown'].map((key) => positionAfterKey(key, 0.5))).toEqual(
      near([0.51, 0.51, 0.49, 0.49]),
    );
    expect(['PageUp', 'PageDown', 'Home', 'End'].map((key) => positionAfterKey(key, 0.5))).toEqual(near([0.6, 0.4, 0, 1]));
    expect(positionAfterKey('Tab', 0.5)).toBeNull();
  });
});

test('conditions in words: shares of 0 are left out, and the default of the level has no words', () => {
  const nano = levelConditions('retail', 'nano');
  expect(conditionsText(undefined, 'retail', 'nano')).toBe('');
  expect(conditionsText(nano, 'retail', 'nano')).toBe('');
  expect(conditionsText(nano, 'retail', 'small')).toBe(`customers: ${allConditionsText(nano)}`);
  const customers = { upfront: 0.6, on_request: 0, changes_mind: 0.4, pushy: 0, impossible: 0, confused: 0, reserved: 0 };
  const conditions = { customers, tools: { outages: 0.025, stale_reads: 0, timeouts: 0 } };
  expect(conditionsText(conditions, 'retail', 'nano')).toBe('customers: 60 % upfront, 40 % changes mind, tool outages 2.5 %');
  expect(sameConditions(conditions, structuredClone(conditions))).toBe(true);
  expect(sameConditions(conditions, { ...conditions, tools: { outages: 0.025, stale_reads: 0.1, timeouts: 0 } })).toBe(false);
});
