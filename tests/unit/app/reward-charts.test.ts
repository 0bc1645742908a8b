/** The charts and texts that show how the reward was earned: intervals, bands, which charts a run has, groups by reward. */
import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import { chartData, chartTable } from '../../../src/app/charts/charts.ts';
import { TERMS_CHART, WRITES_CHART } from '../../../src/app/charts/reward-charts.ts';
import { USER_FAULTS_CHART } from '../../../src/app/charts/user-charts.ts';
import { wilson } from '../../../src/base/wilson.ts';
import RewardTerms from '../../../src/app/conversation/transcript/RewardTerms.svelte';
import { groupRollouts } from '../../../src/app/run-data/groups.ts';
import { MetricSeries } from '../../../src/app/run-data/series.ts';
import { runCharts } from '../../../src/app/runs/run-charts.ts';
import type { RolloutSummary } from '../../../src/records/rollout.ts';
import { grpoConfig } from '../../../src/training/config.ts';

describe('Wilson’s interval', () => {
  // Published values, for example R's prop.test(8, 10, correct = FALSE).
  test.each([
    [8, 10, 0.4902, 0.9433],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [1, 2, 0.0945, 0.9055],
  ])('%i of %i', (count, of, low, high) => {
    expect(wilson(count, of)!.low).toBeCloseTo(low, 4);
    expect(wilson(count, of)!.high).toBeCloseTo(high, 4);
  });
  test('is not defined without writes', () => expect(wilson(0, 0)).toBeNull());
});

describe('the chart of writes', () => {
  const series = new MetricSeries();
  series.put({ step: 0, 'val-aux/retail-nano/writes/confirmed_ratio': 0.25 });
  series.put({ step: 1, 'writes/confirmed': 8, 'writes/audited': 10, 'writes/confirmed_ratio': 0.8 });
  series.put({ step: 2, 'writes/confirmed': 0, 'writes/audited': 0 });
  series.put({ step: 3, 'writes/confirmed': 10, 'writes/audited': 10, 'writes/confirmed_ratio': 1 });
  const data = chartData(WRITES_CHART, series, 0.7);
  const { steps, curves, raw, bands } = data;

  test('draws the band, then the values, which are not smoothed', () => {
    expect(curves.map(({ role, label }) => `${label} ${role}`)).toEqual([
      'training high',
      'training low',
      'training smooth',
      'held-out smooth',
    ]);
    // Step 2 has no writes, so it has no share.
    expect(steps).toEqual([0, 1, 3]);
    expect(raw).toEqual([
      [null, 0.8, 1],
      [0.25, null, null],
    ]);
    expect(bands[0]!.low).toEqual([null, expect.closeTo(0.4902, 4), expect.closeTo(0.7225, 4)]);
    expect(bands[0]!.high).toEqual([null, expect.closeTo(0.9433, 4), expect.closeTo(1, 12)]);
    expect(bands[1]).toBeNull();
  });

  test('its file has the ends of each interval', () => {
    const { header, rows } = chartTable(data);
    expect(header).toEqual(['step', 'training', 'training, low', 'training, high', 'held-out']);
    expect(rows[0]).toEqual([0, null, null, null, 0.25]);
    expect(rows[1]).toEqual([1, 0.8, expect.closeTo(0.4902, 4), expect.closeTo(0.9433, 4), null]);
  });
});

test('the chart of terms has a line for the total and for each term that was measured', () => {
  const series = new MetricSeries();
  series.put({ step: 1, 'critic/rewards/mean': 0.5, 'reward/outcome/mean': 0.75, 'reward/unconfirmed_write/mean': -0.25 });
  expect(chartData(TERMS_CHART, series, 0).lines.map(({ label }) => label)).toEqual(['total', 'outcome', 'writes without a yes']);
});

test('the chart of a customer’s faults has the interval of each share', () => {
  const series = new MetricSeries();
  series.put({ step: 0, 'user/cost': 1 });
  series.put({ step: 1, 'user/fault_rate': 0.8, 'user/audited': 10 });
  series.put({ step: 2, 'user/fault_rate': 0, 'user/audited': 0 });
  const { bands, steps } = chartData(USER_FAULTS_CHART, series, 0.7);
  expect(steps).toEqual([1, 2]);
  expect(bands[0]!.low).toEqual([expect.closeTo(0.4902, 4), null]);
  expect(bands[0]!.high).toEqual([expect.closeTo(0.9433, 4), null]);
});

test('only a run whose customer is behind an endpoint has charts of the customer, and a cost only with prices', () => {
  const endpoint = { mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm' } as const;
  const ids = (user: Parameters<typeof runCharts>[1]) =>
    runCharts(grpoConfig('nano'), user)
      .health.map(({ id }) => id)
      .filter((id) => id.startsWith('user-'));
  expect(ids({ mode: 'scripted' })).toEqual([]);
  expect(ids(undefined)).toEqual([]);
  expect(ids(endpoint)).toEqual(['user-faults', 'user-tokens', 'user-latency']);
  expect(ids({ ...endpoint, promptPrice: 0.1 })).toEqual(['user-faults', 'user-tokens', 'user-latency', 'user-cost']);
});

test('a run has the charts that its configuration measures, beside the reward', () => {
  const ids = (config: Parameters<typeof runCharts>[0]) =>
    runCharts(config)
      .main.slice(0, 3)
      .map(({ id }) => id);
  expect(ids(grpoConfig('nano'))).toEqual(['reward', 'confirmed-writes', 'groups']);
  expect(ids(grpoConfig('nano', { 'reward.format': 0.1 }))).toEqual(['reward', 'confirmed-writes', 'reward-terms']);
  expect(ids(grpoConfig('nano', { domain: 'telecom' }))).toEqual(['reward', 'confirmed-writes', 'groups']);
  expect(ids(grpoConfig('nano', { domain: 'tau2-airline' }))).toEqual(['reward', 'groups', 'kl']);
  expect(ids(undefined)).toEqual(['reward', 'groups', 'kl']);
});

test('a group’s mean and deviation are those of the reward of training; its outcome is binary', () => {
  const rollout = (index: number, reward: number | null, rewards?: RolloutSummary['rewards']) =>
    ({ id: `1-0-${index}`, group: '1-0', index, step: 1, task: 't', intent: '', reward, ...(rewards && { rewards }) }) as RolloutSummary;
  const [group] = groupRollouts([rollout(0, 0, { outcome: 0, partial: 0.5 }), rollout(1, 0, { outcome: 0, partial: 0 }), rollout(2, null)]);
  expect(group).toMatchObject({ mean: 0.25, outcome: 'all wrong' });
  expect(group!.std).toBeCloseTo(Math.SQRT1_2 / 2, 12);
});

test('a rollout’s reward is shown by term', () => {
  const { body } = render(RewardTerms, { props: { rewards: { outcome: 1, partial: 0.5, unconfirmed_write: -0.25 } } });
  const text = body
    .replace(/<!--.*?-->/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
  expect(text.trim()).toBe('1.25 1 outcome 0.5 partial credit −0.25 writes without a yes');
});
