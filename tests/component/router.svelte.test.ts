/** The router: what the address says, as reactive state. */
import { flushSync } from 'svelte';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Router } from '../../src/app/routes/router.svelte.ts';
import { arrival } from '../../src/app/kit/scroll.ts';

let stopEffects = () => {};
const nextMove = () => new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));

async function goTo(hash: string): Promise<void> {
  const moved = nextMove();
  location.hash = hash;
  await moved;
}

/** Collects the values of `read` each time an effect sees them change. */
function watch<T>(read: () => T): T[] {
  const seen: T[] = [];
  stopEffects = $effect.root(() => {
    $effect(() => void seen.push(read()));
  });
  flushSync();
  return seen;
}

beforeEach(async () => {
  if (location.hash !== '#/runs') await goTo('#/runs');
  Object.assign(arrival, { moved: false, scrolled: 0 });
});
afterEach(() => stopEffects());

test('reads the address, and follows the address', async () => {
  const router = new Router();
  const seen = watch(() => router.route);
  expect(arrival.moved).toBe(false);
  await goTo('#/evals/7/trials/a%2Fb');
  flushSync();
  await goTo('#/no-such-page');
  flushSync();
  expect(seen).toEqual([{ name: 'runs' }, { name: 'trial', evaluation: '7', id: 'a/b' }, { name: 'not-found' }]);
  expect(arrival.moved).toBe(true);
});

test('reads the values of the query by their kinds; a wrong value counts as absent', async () => {
  await goTo('#/runs/r1?step=12&tab=config&from=-3&to=x');
  const router = new Router();
  expect(router.query('run')).toEqual({ step: 12, smooth: '', from: null, to: null, metric: '', tab: 'config' });
});

test('setQuery changes the query in place', async () => {
  await goTo('#/runs/r1?step=12&tab=config');
  arrival.moved = false; // The routers of earlier tests heard the change of the address.
  const router = new Router();
  const seen = watch(() => router.query('run').step);
  const { length } = history;
  let moves = 0;
  addEventListener('hashchange', () => (moves += 1));
  router.setQuery({ step: 13, smooth: 'a b&c' });
  flushSync();
  expect(location.hash).toBe('#/runs/r1?step=13&tab=config&smooth=a+b%26c');
  expect(router.query('run').smooth).toBe('a b&c');
  router.setQuery({ step: null, tab: '', smooth: '' });
  flushSync();
  expect(location.hash).toBe('#/runs/r1');
  expect(router.query('run').tab).toBe('overview');
  expect(seen).toEqual([12, 13, null]);
  await new Promise((resolve) => setTimeout(resolve));
  expect([history.length, moves, arrival.moved, router.route]).toEqual([length, 0, false, { name: 'run', run: 'r1' }]);
});

test('Back returns to where the page was left; a new page begins at its top', async () => {
  new Router();
  document.body.style.height = '5000px';
  const scrolled = new Promise((resolve) => addEventListener('scrollend', resolve, { once: true }));
  scrollTo(0, 120);
  await scrolled;
  await goTo('#/evals');
  expect(arrival.scrolled).toBe(0);
  const back = nextMove();
  history.back();
  await back;
  expect(arrival.scrolled).toBe(120);
  document.body.style.height = '';
});

test('a click during a scroll: the next page begins at its top', async () => {
  const router = new Router();
  const moved = nextMove();
  location.hash = '#/evals';
  // The scroll ends after the click, before the router gets the event of the click.
  dispatchEvent(new Event('scrollend'));
  expect(history.state).toBeNull();
  await moved;
  expect([arrival.scrolled, router.route.name]).toEqual([0, 'evals']);
  // From now on, a scroll position belongs to the new page.
  dispatchEvent(new Event('scrollend'));
  expect(history.state).toEqual({ y: scrollY });
});

test('a change of the query keeps where the page was scrolled to', async () => {
  const router = new Router();
  history.replaceState({ y: 77 }, '');
  router.setQuery({ of: 'a,b' });
  expect(history.state).toEqual({ y: 77 });
});
