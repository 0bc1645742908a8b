/** The story of home: the pair of conversations that it chooses, their acts, and the row that they change. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { type Story, storyOf, storyRow } from '../../../src/app/home/story.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';

let before: Trajectory[];
let after: Trajectory[];
let story: Story;
beforeAll(async () => {
  const { evaluations, trials } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const of = (i: number) => trials.filter(({ evaluation }) => evaluation === evaluations[i]!.id);
  [before, after] = [of(0), of(1)];
  story = storyOf(before, after)!;
});

test('the recorded run has a pair: it fails after an unasked write, and succeeds without a violation', () => {
  expect(story.before.trial).toMatchObject({ reward: 0, violations: [{ rule: 'unconfirmed_write' }] });
  expect(story.after.trial).toMatchObject({ reward: 1, violations: [] });
  expect(story.before.trial.task.id).toBe(story.after.trial.task.id);
  expect(story.moments).toBe(story.common.length + Math.max(story.before.acts.length, story.after.acts.length));
});

test('the acts part where the first agent writes and the second one asks', () => {
  expect(story.common[0]).toMatchObject({ by: 'customer', call: null });
  expect(story.common.slice(1).every(({ call }) => call && !call.wrote)).toBe(true);
  expect(story.before.acts[0]!.call).toMatchObject({ wrote: true });
  expect(story.after.acts[0]).toMatchObject({ by: 'agent', call: null, text: expect.stringContaining('Yes or no?') as unknown });
  for (const { acts } of [story.before, story.after]) expect(acts.at(-1)!.text).not.toContain('###');
});

test('the row follows the writes: wrong at once before training, right after the yes', () => {
  const states = (side: 'before' | 'after') => {
    const { acts } = story[side];
    return [0, ...acts.map((_, i) => i + 1)].map(
      (shown) => new Set(storyRow(story[side], story.fields, shown)!.fields.map(({ state }) => state)),
    );
  };
  const [was, is] = [states('before'), states('after')];
  expect([...was[0]!]).toEqual(['first']);
  expect(was[1]).toContain('wrong');
  expect(was.at(-1)).toContain('wrong');
  const yes = story.after.acts.findIndex(({ call }) => call?.wrote);
  expect([...is[yes]!]).toEqual(['first']);
  expect(is[yes + 1]).toContain('right');
  expect(is.some((shown) => shown.has('wrong'))).toBe(false);
  const last = storyRow(story.after, story.fields, Infinity)!;
  expect(last.fields.every(({ now, goal }) => now === goal)).toBe(true);
});

test('without such a pair there is no story', () => {
  expect(storyOf(before, before)).toBeNull();
  expect(storyOf(after, after)).toBeNull();
  expect(storyOf([], [])).toBeNull();
});
