/** A text as a pattern that matches exactly this text. */
import { expect, it } from 'vitest';
import { escapeRegExp } from '../../../src/base/escape-reg-exp.ts';

const MARKS = 'part-time .*+?^${}()|[]\\/ a-z';

it.each(['', 'i', 'u', 'v'])('matches only the text, with the flags "%s"', (flags) => {
  expect(new RegExp(`^${escapeRegExp(MARKS)}$`, flags).test(MARKS)).toBe(true);
  expect(new RegExp(`^${escapeRegExp('a-z')}$`, flags).test('b')).toBe(false);
  expect(new RegExp(`^[${escapeRegExp('a-z')}]$`, flags).test('b')).toBe(false);
});
