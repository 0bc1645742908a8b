/** What a visitor writes about runs. */
import { describe, expect, test } from 'vitest';
import { draftOf, readWords } from '../../src/app/runs/words.ts';

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
