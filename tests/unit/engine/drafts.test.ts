/** Prompt-lookup drafts: what is drafted, how much, and when. */
import { describe, expect, test } from 'vitest';
import { draft, DraftLength, Pace } from '../../../src/engine/drafts.ts';

describe('drafts', () => {
  test('are the tokens after the last place with the same end', () => {
    expect(draft([1, 2, 3, 4, 5, 9, 2, 3], 3)).toEqual([4, 5, 9]);
    expect(draft([7, 1, 2, 8, 1, 2, 9, 1, 2], 2)).toEqual([9, 1]);
    // Three equal tokens count more than two equal tokens that came later.
    expect(draft([6, 1, 2, 8, 5, 1, 2, 9, 6, 1, 2], 1)).toEqual([8]);
    // The end of the sequence may be a part of its own draft.
    expect(draft([4, 4, 4], 5)).toEqual([4]);
    expect(draft([1, 2, 3, 4], 5)).toEqual([]);
    expect(draft([1, 2, 1, 2], 0)).toEqual([]);
    expect(draft([], 5)).toEqual([]);
  });

  test('grow while they are right and shrink while they are not', () => {
    const length = new DraftLength();
    const after = (drafted: number, accepted: number): number => (length.learn(drafted, accepted), length.tokens);
    expect([length.tokens, after(3, 3), after(5, 5), after(7, 7), after(7, 6)]).toEqual([3, 5, 7, 7, 6]);
    for (let i = 0; i < 9; i++) after(2, 0);
    expect(length.tokens).toBe(1);
  });

  test('are used where a token took less time with them, and both ways are tried again', () => {
    const pace = new Pace();
    expect(pace.choose(4)).toBe('drafts');
    pace.learn('drafts', 4, 30, 10);
    expect(pace.choose(4)).toBe('steps');
    pace.learn('steps', 4, 20, 10);
    const choices = Array.from({ length: 32 }, () => pace.choose(5));
    expect(choices.filter((way) => way === 'drafts')).toHaveLength(2);
    // Another number of sequences has times of its own.
    expect(pace.choose(1)).toBe('drafts');
    // Times that change are followed.
    for (let i = 0; i < 20; i++) pace.learn('drafts', 4, 10, 10);
    expect(pace.choose(4)).toBe('drafts');
    // A round without a token says nothing.
    pace.learn('drafts', 4, 1e9, 0);
    expect(pace.choose(4)).toBe('drafts');
  });
});
