/** The lessons' predicates on what the visitor does, and the places that they open. */
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { lesson } from '../../src/app/learn/content.ts';
import { type Examples, examplesOf } from '../../src/app/learn/examples.ts';
import type { Sight } from '../../src/app/learn/lesson.ts';
import { LESSONS } from '../../src/app/learn/titles.ts';
import { parseHash } from '../../src/app/logic/routes.ts';
import type { RolloutSummary } from '../../src/training/types.ts';

const sight = (hash: string, change: Partial<Sight> = {}): Sight => ({ place: parseHash(hash), activeRun: null, user: 'scripted', ...change });
const EXAMPLES: Examples = { mixed: { group: '3-0', right: '3-0-1', wrong: '3-0-0' }, rollout: '3-0-1', task: { domain: 'retail', id: 'retail/nano/train/1/0' } };
const NOTHING: Examples = { mixed: null, rollout: null, task: null };

describe.each(LESSONS)('$title', ({ id }) => {
  const { pages } = lesson(id);

  test.each(pages.map((page, i) => ({ page, i })))('page $i: its places exist, and home does not complete it', ({ page }) => {
    for (const examples of [EXAMPLES, NOTHING]) if (page.open) expect(parseHash(page.open(examples)).route.name).not.toBe('not-found');
    expect(page.done?.(sight('#/')) ?? false).toBe(false);
    // Who is asked to do something can do it, and the page can tell.
    expect(page.task === undefined).toBe(page.done === undefined);
  });

  test('going where it leads completes the page, unless something is to be done there', () => {
    const waits = pages.map((page, i) => (page.open && page.done && !page.done(sight(page.open(EXAMPLES))) ? i : null)).filter((i) => i !== null);
    expect(waits).toEqual(id === 'group' ? [1] : []);
  });
});

describe('what is to be done', () => {
  const done = (id: Parameters<typeof lesson>[0], page: number, hash: string, change?: Partial<Sight>) => lesson(id).pages[page]!.done!(sight(hash, change));

  test('a token is chosen', () => {
    expect(done('mask', 1, '#/runs/r/rollouts/x?tok=0')).toBe(true);
    expect(done('mask', 1, '#/runs/r/rollouts/x')).toBe(false);
    expect(done('mask', 1, '#/runs/r?tok=0')).toBe(false);
  });
  test('two tries are pinned, not one', () => {
    expect(done('group', 1, '#/runs/r/groups/g?pin=a')).toBe(false);
    expect(done('group', 1, '#/runs/r/groups/g?pin=a,b')).toBe(true);
  });
  test('either colour will do', () => {
    for (const [query, wanted] of [['by=nano-retail-grpo', true], ['ch=delta_p', false]] as const) expect(done('update', 3, `#/runs/r/rollouts/x?${query}`)).toBe(wanted);
    for (const [ch, wanted] of [['kl', true], ['ratio', true], ['entropy', false]] as const) expect(done('update', 2, `#/runs/r/rollouts/x?ch=${ch}`)).toBe(wanted);
  });
  test('a run is started, an endpoint chosen', () => {
    expect(done('break', 1, '#/', { activeRun: 'r' })).toBe(true);
    expect(done('bigger', 1, '#/settings')).toBe(false);
    expect(done('bigger', 1, '#/settings', { user: 'endpoint' })).toBe(true);
  });
});

test('examples are of rollouts whose words are kept', () => {
  const rollout = (id: string, group: string, reward: number): RolloutSummary => ({
    id, group, index: Number(id.split('-').at(-1)), step: 1, task: 'retail/nano/train/1/0', intent: 'cancel', reward, advantage: 0, termination: 'user_stop', turns: 1, tokens: 1, violations: 0,
  });
  const rollouts = [rollout('1-0-0', '1-0', 1), rollout('1-0-1', '1-0', 0), rollout('1-1-0', '1-1', 1), rollout('1-1-1', '1-1', 1)];
  expect(examplesOf(rollouts, new Set(rollouts.map(({ id }) => id)))).toEqual({ mixed: { group: '1-0', right: '1-0-0', wrong: '1-0-1' }, rollout: '1-1-1', task: { domain: 'retail', id: 'retail/nano/train/1/0' } });
  expect(examplesOf(rollouts, new Set(['1-0-1']))).toMatchObject({ mixed: null, rollout: '1-0-1' });
  expect(examplesOf([], new Set())).toEqual(NOTHING);
});
