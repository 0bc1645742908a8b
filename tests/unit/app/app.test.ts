/** Logic of the page that needs no DOM: addresses, series, charts, groups, differences, status. */
import { describe, expect, test } from 'vitest';
import { chartData } from '../../../src/app/charts/charts.ts';
import { CHARTS } from '../../../src/app/charts/specs.ts';
import { configDiff } from '../../../src/app/run-data/config-diff.ts';
import { bytes, count, number, seconds } from '../../../src/app/kit/format.ts';
import { groupRollouts } from '../../../src/app/run-data/groups.ts';
import { href, parseHash, type Route } from '../../../src/app/routes/routes.ts';
import { compareRows } from '../../../src/app/conversation/database/row-diff.ts';
import { canResume, shownStatus } from '../../../src/app/runs/run-status.ts';
import { MetricSeries } from '../../../src/app/run-data/series.ts';
import { smooth } from '../../../src/app/charts/smoothing.ts';
import type { RolloutSummary } from '../../../src/records/rollout.ts';
import type { RowChange } from '../../../src/records/task.ts';
import { grpoConfig } from '../../../src/training/config.ts';

describe('addresses', () => {
  const routes: Route[] = [
    { name: 'home' },
    { name: 'runs' },
    { name: 'settings' },
    { name: 'run', run: 'a/b?c#d%' },
    { name: 'group', run: 'r', group: '41-t/9' },
    { name: 'rollout', run: 'r', id: 'x y' },
    { name: 'experiments' },
    { name: 'experiment', experiment: 'kl-2' },
  ];
  test.each(routes)('$name is read back from its own address', (route) => {
    expect(parseHash(href(route)).route).toEqual(route);
  });

  test('carry a query, without empty values', () => {
    const address = href({ name: 'run', run: 'r' }, { step: '3', smooth: '' });
    expect(address).toBe('#/runs/r?step=3');
    expect(parseHash(address).query.get('step')).toBe('3');
  });

  test.each(['#/nope', '#/runs/r/groups', '#/runs/r/other/x', '#/runs/r/groups/g/more', '#/settings/more', '#/runs/%'])(
    '%s is not a page',
    (hash) => {
      expect(parseHash(hash).route).toEqual({ name: 'not-found' });
    },
  );
});

test('a number with its noun', () => {
  expect([count(0, 'task'), count(1, 'task'), count(1200, 'task'), count(2, 'entry', 'entries')]).toEqual([
    '0 tasks',
    '1 task',
    '1,200 tasks',
    '2 entries',
  ]);
});

describe('series', () => {
  test('grow above their first size and distinguish gaps from zeros', () => {
    const series = new MetricSeries();
    for (let step = 0; step < 500; step++) series.put({ step, a: step === 7 ? 0 : step, ...(step % 2 ? {} : { b: 1 }), bad: NaN });
    expect(series.length).toBe(500);
    expect(series.steps().at(-1)).toBe(499);
    expect(series.values('a').slice(6, 9)).toEqual([6, 0, 8]);
    expect(series.values('b').slice(0, 4)).toEqual([1, null, 1, null]);
    expect(series.values('bad').every((v) => v === null)).toBe(true);
    expect(series.values('unknown')).toEqual(Array(500).fill(null));
    expect(series.latest('b')).toEqual({ step: 498, value: 1 });
    expect(series.latest('bad')).toBeNull();
  });

  test('insert a late step in order and replace a repeated step', () => {
    const series = new MetricSeries();
    for (const step of [1, 4, 2, 3]) series.put({ step, a: 10 * step });
    series.put({ step: 2, a: -1, b: 5 });
    expect(series.steps()).toEqual([1, 2, 3, 4]);
    expect(series.values('a')).toEqual([10, -1, 30, 40]);
    expect(series.values('b')).toEqual([null, 5, null, null]);
  });

  test('insert a step when all rows are used', () => {
    const series = new MetricSeries();
    for (let step = 1; step <= 64; step++) series.put({ step, a: step });
    series.put({ step: 0, a: -1 });
    expect(series.steps().slice(0, 3)).toEqual([0, 1, 2]);
    expect(series.values('a').at(-1)).toBe(64);
  });

  test('delete all values after a step', () => {
    const series = new MetricSeries();
    for (const step of [1, 2, 3]) series.put({ step, a: step, old: step });
    series.truncate(1);
    series.put({ step: 2, a: 7 });
    expect(series.values('a')).toEqual([1, 7]);
    expect(series.values('old')).toEqual([1, null]);
  });
});

test('smoothing is a mean with exponentially falling weights, and keeps gaps', () => {
  expect(smooth([1, null, 3], 0.5)).toEqual([1, null, (0.5 * 1 + 3) / 1.5]);
  expect(smooth([4, 4, 4], 0.9)).toEqual([4, 4, 4].map((v) => expect.closeTo(v, 12)));
  expect(smooth([1, 2], 0)).toEqual([1, 2]);
});

describe('charts', () => {
  const chart = (id: string) => CHARTS.find((spec) => spec.id === id)!;
  const series = new MetricSeries();
  series.put({ step: 0, 'val-core/retail-nano/reward/mean@1': 0.3 });
  series.put({
    step: 1,
    'critic/score/mean': 0.5,
    'trajectories/all_correct_query_ratio': 0.25,
    'trajectories/valid_query_ratio': 0.5,
    'trajectories/all_wrong_query_ratio': 0.25,
  });

  test('the reward chart has the held-out reward before training; group outcomes begin with training', () => {
    const reward = chartData(chart('reward'), series, 0.5);
    expect(reward.steps).toEqual([0, 1]);
    expect(reward.raw).toEqual([
      [null, 0.5],
      [0.3, null],
    ]);
    expect(reward.curves.map(({ role }) => role)).toEqual(['raw', 'smooth', 'smooth']);
    expect(chartData(chart('groups'), series, 0.5).steps).toEqual([1]);
  });

  test('stacked bars end at the sum, and the highest bar is drawn first', () => {
    const { curves } = chartData(chart('groups'), series, 0.5);
    expect(curves.map(({ label, values }) => [label, values])).toEqual([
      ['all wrong', [1]],
      ['mixed', [0.75]],
      ['all correct', [0.25]],
    ]);
    expect(new Set(curves.map(({ role }) => role))).toEqual(new Set(['bar']));
  });

  test('the tool mix shows the six most used tools', () => {
    const tools = new MetricSeries();
    const uses = { a: 1, b: 9, c: 3, d: 4, e: 5, f: 6, g: 7 };
    tools.put({
      step: 1,
      ...Object.fromEntries(Object.entries(uses).map(([tool, n]) => [`tool_call/${tool}/times/mean`, n])),
      'tool_call/times/mean': 35,
    });
    expect(chartData(chart('tools'), tools, 0).lines.map(({ label }) => label)).toEqual(['b', 'c', 'd', 'e', 'f', 'g']);
  });
});

test('groups have mean, sample deviation and outcome; unscored rollouts do not count', () => {
  const rollout = (group: string, index: number, reward: number | null): RolloutSummary => ({
    id: `${group}-${index}`,
    group,
    index,
    step: 1,
    task: 't',
    intent: 'cancel',
    reward,
    advantage: null,
    termination: 'user_stop',
    turns: 1,
    tokens: 1,
    violations: 0,
    writes: 0,
    domain: 'retail',
    rules: [],
    tools: [],
  });
  const groups = groupRollouts([
    rollout('1-10', 1, 0),
    rollout('1-10', 0, 1),
    rollout('1-2', 0, 1),
    rollout('1-2', 1, null),
    rollout('1-3', 0, null),
    rollout('1-4', 0, 0),
  ]);
  expect(groups.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['1-2', 'all correct'],
    ['1-3', 'not scored'],
    ['1-4', 'all wrong'],
    ['1-10', 'mixed'],
  ]);
  expect(groups.at(-1)).toMatchObject({ mean: 0.5, std: expect.closeTo(Math.SQRT1_2, 12) });
  expect(groups.at(-1)!.rollouts.map(({ index }) => index)).toEqual([0, 1]);
  expect(groups[1]).toMatchObject({ mean: null, std: null });
});

describe('database difference', () => {
  const row = (key: string, before: RowChange['before'], after: RowChange['after']): RowChange => ({
    table: 'orders',
    key,
    before,
    after,
    call: 2,
  });
  const pending = { status: 'pending', items: [{ id: 1 }, { id: 2 }] };

  test('distinguishes right, wrong, missing and unexpected rows', () => {
    const cancelled = { ...pending, status: 'cancelled' };
    const rows = compareRows(
      [
        row('right', pending, { items: pending.items, status: 'cancelled' }),
        row('wrong', pending, { ...pending, status: 'returned' }),
        row('extra', pending, cancelled),
      ],
      [row('right', pending, cancelled), row('wrong', pending, cancelled), row('missing', pending, cancelled)],
    );
    expect(rows.map(({ key, state, call }) => [key, state, call])).toEqual([
      ['right', 'right', 2],
      ['wrong', 'wrong', 2],
      ['missing', 'missing', null],
      ['extra', 'unexpected', 2],
    ]);
    expect(rows[1]!.fields).toEqual([{ path: 'status', before: 'pending', after: 'returned', goal: 'cancelled' }]);
    expect(rows[2]!.fields).toEqual([{ path: 'status', before: 'pending', after: 'pending', goal: 'cancelled' }]);
  });

  test('names changed fields in lists, added values, and inserted or deleted rows', () => {
    const changed = { ...pending, items: [{ id: 1 }, { id: 3 }], reason: 'no longer needed' };
    expect(compareRows([row('a', pending, changed)], [row('a', pending, changed)])[0]!.fields).toEqual([
      { path: 'items.1.id', before: 2, after: 3, goal: 3 },
      { path: 'reason', before: undefined, after: 'no longer needed', goal: 'no longer needed' },
    ]);
    expect(compareRows([row('a', pending, null)], [])[0]!.fields.map(({ path }) => path)).toEqual(['status', 'items.0.id', 'items.1.id']);
    expect(compareRows([row('a', null, 'x')], [])[0]!.fields).toEqual([{ path: '', before: null, after: 'x', goal: null }]);
  });
});

test('the changed settings are those that differ from the preset', () => {
  expect(configDiff(grpoConfig('nano'), grpoConfig('nano'))).toEqual([]);
  expect(configDiff(grpoConfig('nano'), grpoConfig('nano', { seed: 7 }))).toEqual([{ name: 'seed', from: grpoConfig('nano').seed, to: 7 }]);
});

test('a run without a trainer is interrupted, and can be resumed before its last step', () => {
  const row = { id: 'r', status: 'running' } as const;
  expect(shownStatus(row, null, false)).toBe('interrupted');
  expect(shownStatus(row, 'r', false)).toBe('running');
  expect(shownStatus(row, null, true)).toBe('running');
  expect(shownStatus({ id: 'r', status: 'done' }, null, false)).toBe('done');
  expect(canResume('interrupted', 3, 5)).toBe(true);
  expect(canResume('interrupted', 5, 5)).toBe(true);
  expect(canResume('stopped', 5, 5)).toBe(false);
  expect(canResume('done', 3, 5)).toBe(false);
});

test('numbers are formatted for readers', () => {
  expect([0, 0.00002, 0.01234, 5.6789, 1234.5, 2e7, NaN].map(number)).toEqual(['0', '2.0e−5', '0.0123', '5.68', '1,235', '2.0e+7', '–']);
  expect([0, 0.25, 12.34, 75, 7260].map(seconds)).toEqual(['0 s', '250 ms', '12.3 s', '1 min 15 s', '2 h 1 min']);
  expect([0, 999, 1500, 2e9, 5e13].map(bytes)).toEqual(['0 B', '999 B', '1.5 kB', '2.0 GB', '50000.0 GB']);
});
