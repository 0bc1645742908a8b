/** The lessons: conditions on the visitor's actions, and the addresses that they open. */
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { lesson } from '../../src/app/learn/content.ts';
import { type Examples, examplesOf } from '../../src/app/data/lessons/examples.ts';
import type { Sight } from '../../src/app/data/lessons/lesson.ts';
import { LESSONS } from '../../src/app/data/lessons/titles.ts';
import { parseHash } from '../../src/app/data/routes.ts';
import type { RolloutSummary } from '../../src/records/rollout.ts';

const sight = (hash: string, change: Partial<Sight> = {}): Sight => ({
  address: parseHash(hash),
  activeRun: null,
  user: 'scripted',
  ...change,
});
const EXAMPLES: Examples = {
  run: 'recorded',
  mixed: { group: '3-0', right: '3-0-1', wrong: '3-0-0' },
  rollout: '3-0-1',
  task: { domain: 'retail', id: 'retail/nano/train/1/0' },
};
const NOTHING: Examples = { run: null, mixed: null, rollout: null, task: null };

describe.each(LESSONS)('$title', ({ id }) => {
  const { pages } = lesson(id);

  test.each(pages.map((page, i) => ({ page, i })))('page $i: its addresses exist, and home does not complete the page', ({ page }) => {
    for (const examples of [EXAMPLES, NOTHING]) if (page.open) expect(parseHash(page.open(examples)).route.name).not.toBe('not-found');
    expect(page.done?.(sight('#/')) ?? false).toBe(false);
    // The visitor can do the requested action, and the page detects it.
    expect(page.task === undefined).toBe(page.done === undefined);
  });

  test('opening its address completes the page, unless the page requests an action there', () => {
    const waits = pages
      .map((page, i) => (page.open && page.done && !page.done(sight(page.open(EXAMPLES))) ? i : null))
      .filter((i) => i !== null);
    expect(waits).toEqual(id === 'group' ? [1] : []);
  });
});

describe('requested actions', () => {
  const done = (id: Parameters<typeof lesson>[0], page: number, hash: string, change?: Partial<Sight>) =>
    lesson(id).pages[page]!.done!(sight(hash, change));

  test('a token is chosen', () => {
    expect(done('mask', 1, '#/runs/r/rollouts/x?tok=0')).toBe(true);
    expect(done('mask', 1, '#/runs/r/rollouts/x')).toBe(false);
    expect(done('mask', 1, '#/runs/r?tok=0')).toBe(false);
  });
  test('two rollouts are pinned, not one', () => {
    expect(done('group', 1, '#/runs/r/groups/g?pin=a')).toBe(false);
    expect(done('group', 1, '#/runs/r/groups/g?pin=a,b')).toBe(true);
  });
  test('either colour completes the task', () => {
    for (const [query, wanted] of [
      ['by=nano-retail-grpo', true],
      ['ch=delta_p', false],
    ] as const)
      expect(done('update', 3, `#/runs/r/rollouts/x?${query}`)).toBe(wanted);
    for (const [ch, wanted] of [
      ['kl', true],
      ['ratio', true],
      ['entropy', false],
    ] as const)
      expect(done('update', 2, `#/runs/r/rollouts/x?ch=${ch}`)).toBe(wanted);
  });
  test('a run is started, an endpoint chosen', () => {
    expect(done('break', 1, '#/', { activeRun: 'r' })).toBe(true);
    expect(done('bigger', 1, '#/settings')).toBe(false);
    expect(done('bigger', 1, '#/settings', { user: 'endpoint' })).toBe(true);
  });
});

test('examples are rollouts whose conversations are stored', () => {
  const rollout = (id: string, group: string, reward: number): RolloutSummary => ({
    id,
    group,
    index: Number(id.split('-').at(-1)),
    step: 1,
    task: 'retail/nano/train/1/0',
    intent: 'cancel',
    reward,
    advantage: 0,
    termination: 'user_stop',
    turns: 1,
    tokens: 1,
    violations: 0,
  });
  const rollouts = [rollout('1-0-0', '1-0', 1), rollout('1-0-1', '1-0', 0), rollout('1-1-0', '1-1', 1), rollout('1-1-1', '1-1', 1)];
  expect(examplesOf('r', rollouts, new Set(rollouts.map(({ id }) => id)))).toEqual({
    run: 'r',
    mixed: { group: '1-0', right: '1-0-0', wrong: '1-0-1' },
    rollout: '1-1-1',
    task: { domain: 'retail', id: 'retail/nano/train/1/0' },
  });
  expect(examplesOf('r', rollouts, new Set(['1-0-1']))).toMatchObject({ mixed: null, rollout: '1-0-1' });
  expect(examplesOf(null, [], new Set())).toEqual(NOTHING);
});
