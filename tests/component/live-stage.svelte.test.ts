/** The live stage: which events it requests and shows, also for a viewer who wants no motion. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import LiveRollout from '../../src/app/runs/LiveRollout.svelte';
import LiveStage from '../../src/app/runs/LiveStage.svelte';
import { MetricSeries } from '../../src/app/run-data/series.ts';
import type { RunListener } from '../../src/app/clients/trainer-requests.svelte.ts';
import type { LiveAct } from '../../src/agent/live.ts';
import type { RunEvent } from '../../src/trainer/messages.ts';
import { grpoConfig } from '../../src/training/config.ts';
import Provided from './Provided.svelte';

let close = () => {};
afterEach(() => {
  close();
  vi.restoreAllMocks();
});

const ROW = {
  id: 'r',
  step: 2,
  config: grpoConfig('nano', { n: 10, total_training_steps: 4, train_batch_size: 1, ppo_mini_batch_size: 1 }),
};

function stage() {
  let hear: RunListener = () => {};
  const ended = vi.fn();
  const progress = $state<{ now: Extract<RunEvent, { type: 'progress' }> }>({
    now: { type: 'progress', step: 3, totalSteps: 4, phase: 'rollout', done: 1, total: 10, left: 130 },
  });
  const client = {
    status: 'running',
    get progress() {
      return progress.now;
    },
    watch: vi.fn(() => ended),
    subscribe: (listener: RunListener) => ((hear = listener), () => {}),
  };
  const data = { id: 'r', charted: { series: new MetricSeries(), version: 0 }, groups: () => [] };
  const target = document.body.appendChild(document.createElement('div'));
  const shown = mount(Provided, { target, props: { app: { client }, component: LiveStage as never, props: { data, row: ROW } } });
  flushSync();
  close = () => {
    void unmount(shown);
    target.remove();
    close = () => {};
  };
  return {
    client,
    ended,
    progress,
    target,
    hear: (run: string, ...events: RunEvent[]) => (hear(run, events), flushSync()),
    cells: () => [...target.querySelectorAll('[data-part=live-rollout]')].map((cell) => cell.textContent.replace(/\s+/g, ' ').trim()),
  };
}

const said = (id: string, text: string, more: Partial<LiveAct> = {}): LiveAct => ({ id, by: 'agent', text, ...more });

test('asks for events while it is on the screen, and not in a hidden tab', () => {
  const { client, ended } = stage();
  expect(client.watch.mock.calls).toEqual([['r']]);
  const visibility = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  document.dispatchEvent(new Event('visibilitychange'));
  flushSync();
  expect(ended).toHaveBeenCalledTimes(1);
  visibility.mockReturnValue(false);
  document.dispatchEvent(new Event('visibilitychange'));
  flushSync();
  expect(client.watch).toHaveBeenCalledTimes(2);
  close();
  expect(ended).toHaveBeenCalledTimes(2);
});

test('shows words, calls, writes and outcomes of the first eight rollouts; a new step starts empty', () => {
  const { target, hear, cells, progress } = stage();
  expect(target.querySelector('[data-part=phase]')!.textContent.trim()).toBe('Playing conversations');
  expect(target.textContent).toContain('1 of 10');
  expect(cells()).toEqual(Array.from({ length: 8 }, (_, i) => `Rollout 3-0-${i} waits`));

  const call = { name: 'cancel_order', arguments: { order_id: '#W1', items: [1] } };
  const write = said('4', '', { call, result: { error: false, wrote: 2 } });
  hear('other', { type: 'live', step: 3, heldOut: false, rollouts: [{ index: 0, acts: [said('1', 'not this run')] }] });
  hear('r', { type: 'live', step: 3, heldOut: false, rollouts: [{ index: 0, acts: [said('2', 'May I', { open: { markup: '' } })] }] });
  hear('r', {
    type: 'live',
    step: 3,
    heldOut: false,
    rollouts: [{ index: 1, acts: [write, said('6', '', { call: { ...call, arguments: {} } })] }],
  });
  expect(cells().slice(0, 3)).toEqual([
    'Rollout 3-0-0 being played Agent May I',
    'Rollout 3-0-1 being played Agent cancel_order(order_id: #W1, items: [1]) wrote 2 rows Agent cancel_order() running',
    'Rollout 3-0-2 waits',
  ]);
  hear('r', { type: 'live', step: 3, heldOut: false, rollouts: [{ index: 0, acts: [said('2', 'May I have it?')], reward: 0 }] });
  expect(cells()[0]).toMatch(/^Rollout 3-0-0 ✗ ?wrong Agent May I have it\?$/);
  expect(cells()[1]).toContain('wrote 2 rows');

  progress.now = { ...progress.now, step: 4, done: 0 };
  flushSync();
  expect(cells()[0]).toBe('Rollout 4-0-0 waits');
  hear('r', { type: 'live', step: 4, heldOut: false, rollouts: [{ index: 5, acts: [] }] });
  expect([cells()[0], cells()[5]]).toEqual(['Rollout 4-0-0 waits', 'Rollout 4-0-5 being played']);
});

test('a held-out evaluation shows its first conversations, and how a customer leaves in words', () => {
  const { hear, cells, progress } = stage();
  hear('r', { type: 'live', step: 3, heldOut: false, rollouts: [{ index: 0, acts: [said('2', 'Hello.')] }] });
  progress.now = { ...progress.now, phase: 'evaluate', done: 0 };
  flushSync();
  expect(cells()).toEqual(Array.from({ length: 8 }, (_, i) => `Held-out task ${i} waits`));
  const bye: LiveAct = { id: '4', by: 'customer', text: 'Thanks, bye. ###STOP###' };
  hear('r', { type: 'live', step: 3, heldOut: true, rollouts: [{ index: 1, acts: [bye], reward: 1 }] });
  expect(cells()[0]).toBe('Held-out task 0 waits');
  expect(cells()[1]).toMatch(/^Held-out task 1 ✓ ?correct Customer Thanks, bye. ends the conversation$/);
});

test('nothing of the grid is announced', () => {
  const { target } = stage();
  expect(target.querySelector('[data-part=live-rollout]')!.closest('[aria-live]')!.getAttribute('aria-live')).toBe('off');
  expect(target.querySelectorAll('[role=status], [aria-live=polite], [aria-live=assertive]')).toHaveLength(0);
});

test('with reduced motion, an act appears when it is complete', () => {
  const rollout = { index: 0, acts: [said('2', 'Hello.'), said('4', 'May I', { open: { markup: '' } })] };
  const target = document.body.appendChild(document.createElement('ul'));
  const shown = mount(LiveRollout, { target, props: { name: 'Rollout 3-0-0', rollout, whole: true } });
  close = () => (void unmount(shown), target.remove());
  expect(target.textContent).toContain('Hello.');
  expect(target.textContent).not.toContain('May I');
});
