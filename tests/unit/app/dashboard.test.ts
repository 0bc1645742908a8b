/** The dashboard's logic: zoom, smoothing, nearest step with groups, link to Setup, figures of the list, and wake lock. */
import type { RunEvent } from '../../../src/trainer/messages.ts';
import 'fake-indexeddb/auto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readSetup } from '../../../src/app/setup/setup.ts';
import { settingTexts } from '../../../src/app/setup/texts.ts';
import { barPixels, isZoomed, stepRange, valueRange, zoomOf } from '../../../src/app/charts/axes.ts';
import { chartData, hasValues, isolatedRows } from '../../../src/app/charts/charts.ts';
import { CHARTS, HEALTH_CHARTS, metricChart } from '../../../src/app/charts/specs.ts';
import { FIGURES } from '../../../src/app/runs/compare-runs.ts';
import { nearestStep } from '../../../src/app/run-data/groups.ts';
import { parseHash, readQuery } from '../../../src/app/routes/routes.ts';
import { Library } from '../../../src/app/library/library.ts';
import { MetricSeries } from '../../../src/app/run-data/series.ts';
import { setupLink } from '../../../src/app/run-data/setup-link.ts';
import { readSmoothing } from '../../../src/app/charts/smoothing.ts';
import type { Trainer } from '../../../src/trainer/connect.ts';
import { TrainerClient } from '../../../src/app/clients/trainer-client.svelte.ts';
import { screenLock } from '../../../src/app/kit/wake-lock.ts';
import type { RunRequest, RunRow } from '../../../src/records/run.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { grpoConfig } from '../../../src/training/config.ts';

describe('zoom', () => {
  test('selects whole steps, at least two, for both directions of dragging', () => {
    expect(zoomOf(3.4, 9.6)).toEqual({ from: 3, to: 10 });
    expect(zoomOf(9.6, 3.4)).toEqual({ from: 3, to: 10 });
    expect(zoomOf(-2.7, 4)).toEqual({ from: 0, to: 4 });
    expect(zoomOf(4.1, 4.4)).toBeNull();
  });

  test('an open end is the end of the run; an empty range is ignored', () => {
    expect(stepRange({ from: 5, to: null }, 0, 40)).toEqual([5, 40]);
    expect(stepRange({ from: null, to: 7 }, 1, 40)).toEqual([1, 7]);
    expect(stepRange({ from: 50, to: null }, 0, 40)).toEqual([0, 40]);
    expect(stepRange({ from: 9, to: 9 }, 0, 40)).toEqual([0, 40]);
    expect(stepRange({ from: null, to: null }, 3, 3)).toEqual([2, 4]);
    expect(stepRange({ from: null, to: null }, 0, 0)).toEqual([0, 1]);
    expect(stepRange({ from: null, to: null })).toEqual([0, 1]);
    expect(isZoomed({ from: 0, to: null })).toBe(true);
    expect(isZoomed(readQuery('run', parseHash('#/runs/r?from=x&to=-1').query))).toBe(false);
  });
});

test('charts and values that are measured on trained tokens say so', () => {
  const series = new MetricSeries();
  const measured = /^actor\/(kl_loss|entropy|pg_clipfrac)/;
  const charts = [...CHARTS, ...HEALTH_CHARTS].filter((chart) => chart.lines(series).some(({ key }) => measured.test(key)));
  expect(charts.map(({ id }) => id)).toEqual(['kl', 'entropy', 'clip-fraction']);
  for (const { title, help } of charts) expect(title + help).toMatch(/trained tokens.*trained tokens/);
  const figures = FIGURES.filter(({ label }) => /KL|entropy/.test(label));
  expect(figures).toHaveLength(2);
  for (const { label } of figures) expect(label).toContain('trained tokens');
});

test('bars fill their steps: those of a short run have gaps, those of a long run touch', () => {
  const bars = (steps: number, pixels: number) =>
    Array.from({ length: steps }, (_, i) => barPixels((i * pixels) / steps, ((i + 1) * pixels) / steps));
  const gaps = (all: { left: number; width: number }[]) => all.slice(1).map(({ left }, i) => left - all[i]!.left - all[i]!.width);
  const [short, long, longer] = [bars(5, 300), bars(150, 320), bars(900, 300)];
  expect(Math.min(...gaps(short))).toBeGreaterThan(0);
  expect(new Set(gaps(long))).toEqual(new Set([0]));
  for (const { left, width } of [...short, ...long, ...longer]) {
    expect(Number.isInteger(left)).toBe(true);
    expect(width).toBeGreaterThanOrEqual(1);
  }
  // The bar of a single step does not fill the chart. It is in the middle.
  expect(barPixels(0, 300)).toEqual({ left: 118, width: 64 });
});

test('a value that no line reaches gets a dot: the first of a run, and one between gaps', () => {
  expect(isolatedRows([0.5])).toEqual([0]);
  expect(isolatedRows([0.5, 0.6])).toEqual([]);
  expect(isolatedRows([null, 1, null, 2, 3, null, 4])).toEqual([1, 6]);
  const series = new MetricSeries();
  series.put({ step: 1, 'actor/entropy': 0.7 });
  const { curves } = chartData(
    CHARTS.find(({ id }) => id === 'entropy')!,
    series,
    0.7,
  );
  expect(curves.map(({ role, values }) => [role, isolatedRows(values)])).toContainEqual(['smooth', [0]]);
});

test('the time of a step is the median, so that a few slow steps do not count', () => {
  const series = new MetricSeries();
  [50, 48, 147, 52].forEach((value, i) => series.put({ step: i + 1, time: value, other: 1 }));
  expect(series.median('time')).toBe(51);
  series.put({ step: 5, other: 1 });
  expect(series.median('time')).toBe(51);
  expect(series.median('absent')).toBeNull();
});

test('the axis includes 0 and every value, also if all values are negative', () => {
  expect(valueRange(0.2, 1)).toEqual([0, 1.08]);
  expect(valueRange(0.2, 0.5, 1)).toEqual([0, 1]);
  expect(valueRange(-2, -1)).toEqual([-2.16, 0]);
  expect(valueRange(0, 0)).toEqual([0, 1]);
  expect(valueRange(null, null)).toEqual([0, 1]);
});

test('smoothing is read from the address; an invalid value gives the default, which is off below 20 steps', () => {
  const read = (steps: number, ...texts: string[]) => texts.map((text) => readSmoothing(text, steps));
  expect(read(40, '0', '0.35', '0.95')).toEqual([0, 0.35, 0.95]);
  expect(read(20, '', '1', '-0.1', 'much')).toEqual([0.7, 0.7, 0.7, 0.7]);
  expect(read(19, '', '1', '-0.1', 'much')).toEqual([0, 0, 0, 0]);
  expect(read(10, '0.35')).toEqual([0.35]);
});

test('the alarm of the sampler, gradient norm and clipping are charted; any metric can be', () => {
  const series = new MetricSeries();
  series.put({
    step: 1,
    'actor/grad_norm': 2,
    'actor/pg_clipfrac': 0.5,
    'actor/pg_clipfrac_lower': 0,
    'training/rollout_probs_diff_max': 1e-5,
    'training/rollout_probs_diff_mean': 1e-6,
    'val-aux/<b>': 3,
  });
  expect(HEALTH_CHARTS.map((spec) => chartData(spec, series, 0).raw)).toEqual([[[2]], [[0.5], [0]], [[1e-5], [1e-6]]]);
  const spec = metricChart('val-aux/<b>');
  expect(spec.id).toBe('val-aux-b-');
  expect(chartData(spec, series, 0.9)).toMatchObject({ raw: [[3]], curves: [{ role: 'smooth', sparse: true }] });
});

test('a chart without a value is not drawn; a measured 0 is a value', () => {
  const series = new MetricSeries();
  series.put({ step: 1, 'actor/entropy': 0, 'actor/pg_clipfrac': 0, 'critic/score/mean': NaN });
  const drawn = [...CHARTS, ...HEALTH_CHARTS].filter((spec) => hasValues(spec, series)).map(({ id }) => id);
  expect(drawn).toEqual(['entropy', 'clip-fraction']);
});

test('a step without groups gives the nearest step with groups (the earlier of two); no step gives the newest', () => {
  const steps = [1, 2, 9, 11, 30];
  expect([null, 9, 10, 12, 0, 99].map((asked) => nearestStep(steps, asked))).toEqual([30, 9, 9, 11, 1, 30]);
  expect(nearestStep([], 3)).toBeNull();
});

const request: RunRequest = { model: 'nano-retail', preset: 'tiny', overrides: {}, user: { mode: 'scripted' } };
const row = (id: string, more: Partial<RunRow> = {}): RunRow => ({
  id,
  name: id,
  createdAt: 1,
  status: 'done',
  step: 3,
  request,
  config: grpoConfig('tiny'),
  ...more,
});

test('a setup like a run’s keeps model, seed and every changed setting', () => {
  const config = grpoConfig('tiny', { lr: 0.5, seed: 9, use_kl_loss: false });
  const link = setupLink(row('r', { request: { ...request, model: 'mine' }, config }))!;
  const query = readQuery('home', parseHash(link).query);
  expect(query).toMatchObject({ preset: 'tiny', model: 'mine', seed: 9 });
  expect(readSetup('tiny', { ...settingTexts(query), seed: '9' })).toMatchObject({ config, problems: {}, unknown: [] });
  const texts = (hash: string) => Object.fromEntries(new URLSearchParams(hash.split('?')[1]));
  // Elsewhere, the customers of the preset are not the usual ones, so the address names them.
  const moved = { ...grpoConfig('tiny'), domain: 'library', level: 'nano' };
  const { setup: _setup, preset: _preset, ...settings } = texts(setupLink(row('r', { config: moved }))!);
  expect(grpoConfig('tiny', settings)).toEqual(moved);
  expect(setupLink(row('r'))).toBe('#/?setup=1&preset=tiny');
  expect(setupLink(row('r', { request: { ...request, preset: 'constructor' } }))).toBeNull();
});

describe('in storage', () => {
  let db: RunDatabase;
  let library: Library;
  function open() {
    db = new RunDatabase(`dashboard-${Math.random()}`);
    library = new Library(db);
  }
  afterEach(() => db.delete());

  test('the last run is the newest run that was trained here before a time', async () => {
    open();
    await db.runs.bulkPut([row('old', { createdAt: 1 }), row('mine', { createdAt: 2 }), row('theirs', { createdAt: 3, imported: 9 })]);
    expect((await library.lastRun())?.id).toBe('mine');
    expect((await library.lastRun(2))?.id).toBe('old');
    expect(await library.lastRun(1)).toBeUndefined();
  });

  test('a row of the list: mean reward of the last steps, first and newest held-out reward', async () => {
    open();
    const held = { 0: 0.25, 10: 0.75, 20: 0.5 } as Record<number, number>;
    const values = (step: number) => ({
      step,
      ...(step > 0 && { 'critic/score/mean': step / 100 }),
      ...(step in held && { 'val-core/retail-nano/reward/mean@1': held[step]! }),
    });
    await db.metrics.bulkPut(Array.from({ length: 26 }, (_, step) => ({ run: 'r', step, values: values(step) })));
    await db.metrics.put({ run: 'other', step: 30, values: { step: 30, 'critic/score/mean': 1 } });
    expect(await library.source('r').summary('r')).toEqual({
      reward: expect.closeTo(0.205, 12),
      heldOut: [0.25, 0.5],
      curve: Array.from({ length: 25 }, (_, i) => ({ step: i + 1, value: (i + 1) / 100 })),
    });
    expect(await library.source('other').summary('other')).toEqual({ reward: 1, heldOut: [], curve: [{ step: 30, value: 1 }] });
    expect(await library.source('none').summary('none')).toEqual({ reward: null, heldOut: [], curve: [] });
    await db.metrics.put({ run: 'begun', step: 0, values: values(0) });
    expect(await library.source('begun').summary('begun')).toEqual({ reward: null, heldOut: [0.25], curve: [] });
  });

  test('a zero that an earlier version stored for an unmeasured KL is not a value', async () => {
    open();
    const values = { step: 1, 'actor/kl_loss': 0, 'actor/kl_coef': 0, 'actor/entropy': 0 };
    const measured = { step: 1, 'actor/entropy': 0 };
    await db.runs.bulkPut([
      row('off', { config: grpoConfig('tiny', { use_kl_loss: false }) }),
      row('on', { config: grpoConfig('tiny', { use_kl_loss: true }) }),
    ]);
    await db.metrics.bulkPut(['off', 'on', 'gone'].map((run) => ({ run, step: 1, values })));
    expect(await library.source('off').metrics('off')).toEqual([measured]);
    // At step 1 the policy is the reference, so this 0 is measured.
    expect(await library.source('on').metrics('on')).toEqual([values]);
    expect(await library.source('gone').metrics('gone')).toEqual([values]);
  });

  test('the curve of a long run has a few of its steps, from the first to the last', async () => {
    open();
    const steps = Array.from({ length: 1000 }, (_, i) => i + 1);
    await db.metrics.bulkPut(steps.map((step) => ({ run: 'long', step, values: { step, 'critic/score/mean': step / 1000 } })));
    const { curve } = await library.source('long').summary('long');
    expect(curve).toHaveLength(60);
    expect([curve[0], curve.at(-1)]).toEqual([
      { step: 1, value: 0.001 },
      { step: 1000, value: 1 },
    ]);
    const gaps = curve.slice(1).map(({ step }, i) => step - curve[i]!.step);
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
  });

  test('the size of a run grows with its own stored data only', async () => {
    open();
    expect(await library.source('r').bytes('r')).toBe(0);
    await db.rollouts.put({ run: 'other', id: 'x', step: 1 } as never);
    expect(await library.source('r').bytes('r')).toBe(0);
    await db.trajectories.bulkPut(Array.from({ length: 10 }, (_, i) => ({ run: 'r', id: `1-0-${i}`, text: 'x'.repeat(10_000) }) as never));
    const size = await library.source('r').bytes('r');
    expect(size).toBeGreaterThan(100_000);
    expect(size).toBeLessThan(101_000);
    await db.evaluations.put({ id: 'r@0', run: 'r' } as never);
    await db.evaluationTrajectories.bulkPut(['a', 'b'].map((id) => ({ evaluation: 'r@0', id }) as never));
    expect((await library.source('r').bytes('r')) / size).toBeCloseTo(1.2, 6);
  });
});

test('a lost device that gives no information leaves a reason, and recovery ends', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('navigator', { storage: { persist: () => Promise.resolve(true) } });
  let hear = (_run: string, _events: RunEvent[]) => {};
  const trainer = {
    listen: (listener: typeof hear) => Promise.resolve((hear = listener)),
    listenToActivities: () => Promise.resolve(),
    start: () => Promise.resolve('r'),
    resume: () => Promise.resolve(),
    engineInfo: () => Promise.reject(new Error('gone')),
  };
  const client = new TrainerClient(() => Promise.resolve({ trainer: trainer as unknown as Trainer, user: null as never, end: () => {} }));
  await client.start(request);
  hear('r', [{ type: 'status', status: 'interrupted', message: 'lost' }]);
  expect(client.recovering).toBe(true);
  await vi.advanceTimersByTimeAsync(2000);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect([client.recovering, client.activeRun, client.problem]).toEqual([false, 'r', 'gone']);
  expect(client.isPersistent).toBe(true);
});

describe('the screen', () => {
  class FakeLock {
    released = false;
    release = vi.fn(() => {
      this.released = true;
      return Promise.resolve();
    });
  }
  function fakes(refuse = false) {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState });
    const locks: FakeLock[] = [];
    const request = vi.fn(() => {
      if (refuse) return Promise.reject(new DOMException('battery', 'NotAllowedError'));
      locks.push(new FakeLock());
      return Promise.resolve(locks.at(-1) as unknown as WakeLockSentinel);
    });
    const show = (state: DocumentVisibilityState) => {
      page.visibilityState = state;
      page.dispatchEvent(new Event('visibilitychange'));
    };
    return { page, locks, request, show, lock: { request: request as unknown as WakeLock['request'] } };
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve));

  test('the lock is held while needed, requested again when the page is visible, and released at the end', async () => {
    const { page, locks, request, show, lock } = fakes();
    const keepOn = screenLock(lock, page);
    keepOn(true);
    keepOn(true);
    await settled();
    expect(request).toHaveBeenCalledExactlyOnceWith('screen');
    show('hidden');
    locks[0]!.released = true; // Browsers release the lock when the page is hidden.
    show('visible');
    await settled();
    expect(request).toHaveBeenCalledTimes(2);
    keepOn(false);
    await settled();
    expect(locks[1]!.release).toHaveBeenCalledOnce();
    show('hidden');
    show('visible');
    expect(request).toHaveBeenCalledTimes(2);
  });

  test('a lock that is granted too late is released', async () => {
    const { page, locks, lock } = fakes();
    const keepOn = screenLock(lock, page);
    keepOn(true);
    keepOn(false);
    await settled();
    expect(locks[0]!.released).toBe(true);
  });

  test('no lock is held if the browser has no locks, refuses them, or the page is hidden', async () => {
    const refused = fakes(true);
    screenLock(refused.lock, refused.page)(true);
    screenLock(undefined, refused.page)(true);
    await settled();
    expect(refused.request).toHaveBeenCalledOnce();
    const hidden = fakes();
    hidden.page.visibilityState = 'hidden';
    screenLock(hidden.lock, hidden.page)(true);
    await settled();
    expect(hidden.request).not.toHaveBeenCalled();
  });
});
