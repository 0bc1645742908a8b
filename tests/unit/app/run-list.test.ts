/** The list of runs: what a visitor writes about runs, its order, its filter by tags, its sparklines. */
import { describe, expect, test } from 'vitest';
import { SPARK_HEIGHT, SPARK_WIDTH, sparkPlaces } from '../../../src/app/charts/sparkline.ts';
import { parseHash, readQuery } from '../../../src/app/routes/routes.ts';
import { orderAfterClick, readOrder, sortRows, tagChoices, withTags } from '../../../src/app/runs/run-list.ts';
import { draftOf, readWords } from '../../../src/app/runs/words.ts';
import type { RunRow } from '../../../src/records/run.ts';

describe('name, tags and note of a run', () => {
  test('are stored without outer spaces, line breaks in the name, empty tags and repeated tags', () => {
    expect(readWords({ name: '  long\n groups ', note: ' n is 16\n\nlr is low ', tags: ' a,, b  c ,a,' })).toEqual({
      name: 'long groups',
      note: 'n is 16\n\nlr is low',
      tags: ['a', 'b c'],
    });
    expect(readWords({ name: 'x', note: ' ', tags: ' , ' })).toEqual({ name: 'x' });
  });

  test('become a form and come back equal', () => {
    for (const words of [{ name: 'x' }, { name: 'x', note: 'a\nb', tags: ['n=16', 'keep me'] }])
      expect(readWords(draftOf(words))).toEqual(words);
  });

  test('are refused without a name, and if a bundle could not hold them', () => {
    const draft = { name: 'x', note: '', tags: '' };
    expect(() => readWords({ ...draft, name: ' \n' })).toThrow('the name is empty');
    expect(() => readWords({ ...draft, tags: `a, ${'b'.repeat(41)}` })).toThrow(/“b+” has 41 characters: expected at most 40/);
    const tags = (n: number) => Array.from({ length: n }, (_, i) => i).join();
    expect(() => readWords({ ...draft, tags: tags(21) })).toThrow('these are 21 tags: expected at most 20');
    expect(readWords({ ...draft, tags: tags(20) }).tags).toHaveLength(20);
  });
});

describe('order', () => {
  const queryOf = (hash: string) => readQuery('runs', parseHash(hash).query);

  test('is in the address: a column begins with its usual order, and a second click turns it around', () => {
    expect(readOrder(queryOf('#/runs'))).toBeNull();
    expect(readOrder(queryOf('#/runs?sort=unknown'))).toBeNull();
    expect(readOrder(queryOf('#/runs?sort=reward'))).toEqual({ sort: 'reward', order: 'desc' });
    expect(readOrder(queryOf('#/runs?sort=name'))).toEqual({ sort: 'name', order: 'asc' });
    expect(readOrder(queryOf('#/runs?sort=reward&order=asc'))).toEqual({ sort: 'reward', order: 'asc' });
    let now = readOrder({ sort: '', order: '' });
    const orders = ['reward', 'reward', 'reward', 'name', 'name'].map((sort) => {
      now = readOrder(orderAfterClick(now, sort as 'reward'));
      return `${now!.sort} ${now!.order}`;
    });
    expect(orders).toEqual(['reward desc', 'reward asc', 'reward desc', 'name asc', 'name desc']);
  });

  test('has rows without a value last in both directions, and keeps equal rows in place', () => {
    const rows = [
      { id: 'a', value: 0.5 },
      { id: 'b', value: null },
      { id: 'c', value: 0.5 },
      { id: 'd', value: 0 },
    ];
    const ids = (order: 'asc' | 'desc') => sortRows(rows, ({ value }) => value, order).map(({ id }) => id);
    expect(ids('asc')).toEqual(['d', 'a', 'c', 'b']);
    expect(ids('desc')).toEqual(['a', 'c', 'd', 'b']);
    expect(sortRows(['run 10', 'Run 9', 'a'], (name) => name, 'asc')).toEqual(['a', 'Run 9', 'run 10']);
  });
});

test('chosen tags leave the runs that have all of them, and each tag counts what it would leave', () => {
  const rows = [{ id: '1', tags: ['a', 'b'] }, { id: '2', tags: ['a'] }, { id: '3' }] as RunRow[];
  expect(withTags(rows, []).map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect(withTags(rows, ['a', 'b']).map(({ id }) => id)).toEqual(['1']);
  expect(tagChoices(rows, ['a', 'gone'])).toEqual([
    { tag: 'a', on: true, count: 0, next: ['gone'] },
    { tag: 'b', on: false, count: 0, next: ['a', 'gone', 'b'] },
    { tag: 'gone', on: true, count: 0, next: ['a'] },
  ]);
  expect(tagChoices(rows, ['a']).map(({ tag, count }) => [tag, count])).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  expect(tagChoices([{ id: '3' } as RunRow], [])).toEqual([]);
});

test('a sparkline is within its picture; its steps fill the width, its values the height', () => {
  const places = sparkPlaces([
    { step: 1, value: 0 },
    { step: 2, value: 1 },
    { step: 5, value: 2 },
  ]);
  for (const { x, y } of places) {
    expect(x).toBeGreaterThan(0);
    expect(x).toBeLessThan(SPARK_WIDTH);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(SPARK_HEIGHT);
  }
  const [first, second, third] = places;
  expect((second!.x - first!.x) / (third!.x - first!.x)).toBeCloseTo(0.25, 12);
  expect(first!.y).toBeGreaterThan(second!.y);
  expect(third!.y).toBe(second!.y);
  expect(sparkPlaces([{ step: 3, value: 0.5 }])).toEqual([{ x: SPARK_WIDTH - 3, y: SPARK_HEIGHT / 2 }]);
  expect(sparkPlaces([])).toEqual([]);
});
