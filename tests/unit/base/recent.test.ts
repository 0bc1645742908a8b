/** The cache of the values that were used last. */
import { expect, test } from 'vitest';
import { Recent } from '../../../src/base/recent.ts';

test('keeps the values that were used last, and makes a dropped or deleted value again', () => {
  const made: string[] = [];
  const recent = new Recent<string, string>(2);
  const get = (key: string) => recent.get(key, () => (made.push(key), key.toUpperCase()));
  expect(['a', 'b', 'a', 'c'].map(get)).toEqual(['A', 'B', 'A', 'C']);
  expect(made).toEqual(['a', 'b', 'c']);
  // b was used before a, so c has taken the place of b.
  get('a');
  get('b');
  expect(made).toEqual(['a', 'b', 'c', 'b']);
  recent.delete('a');
  get('a');
  expect(made).toEqual(['a', 'b', 'c', 'b', 'a']);
});

test('keeps a value that is undefined', () => {
  let times = 0;
  const recent = new Recent<string, undefined>(1);
  for (let i = 0; i < 3; i++) recent.get('key', () => void (times += 1) as undefined);
  expect(times).toBe(1);
});
